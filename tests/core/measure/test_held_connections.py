"""Connections beside a load, held against servers that keep them, close them, or never read."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from stackrace.base.process import Background
from stackrace.measure import held_connections
from stackrace.measure.held_connections import holding
from stackrace.measure.load import HeldConnections, Load
from stackrace.measure.workload import Request, Workload

PAGE = Workload(requests=(Request(path="/page", headers=(("X-Own", "1"),)),), answers=(), host="shop.example")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
CORES = tuple(os.sched_getaffinity(0))

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Seen:
    """A server's connections: their requests, and how many it accepted and lost."""

    def __init__(self) -> None:
        self.port = 0
        self.heads: list[bytes] = []
        self.accepted = self.ended = 0


@contextmanager
def serving(serve: Serve) -> Iterator[Seen]:
    """Run ``serve`` for each connection in a thread; it closes the connection when it returns."""
    seen, loop, over = Seen(), asyncio.new_event_loop(), asyncio.Event()
    ready: list[bool] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.accepted += 1
        try:
            await serve(reader, writer)
        finally:
            seen.ended += 1
            writer.transport.abort()

    async def listen() -> None:
        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        seen.port = server.sockets[0].getsockname()[1]
        ready.append(True)
        await over.wait()
        server.close()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(listen())

    work = Background(run, daemon=True)
    until(lambda: bool(ready))
    try:
        yield seen
    finally:
        loop.call_soon_threadsafe(over.set)
        work.finish()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 1800
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def answering(answer: bytes, *, closes: bool = False, half: bool = False) -> Serve:
    """Return a server that answers each request with ``answer``, then closes, or its own direction only."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            if half:
                writer.write_eof()
            if closes:
                return

    return serve


async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accept, and never read what is sent before the client is gone."""
    await writer.wait_closed()


async def refusing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close every connection at once."""


def held(seen: Seen, **load: int):
    return holding(("127.0.0.1", seen.port), PAGE, Load(concurrency=1, **load), cores=CORES)


def test_silent_and_idle_connections_stay_open_until_the_end():
    with serving(answering(ANSWER)) as seen:
        with held(seen, silent=2, idle=3) as holder:
            assert holder.now == HeldConnections(silent=2, idle=3, closed=0)
            assert holder.asked == 3
            until(lambda: seen.accepted == 5)
            assert seen.ended == 0
        until(lambda: seen.ended == 5)
        assert seen.accepted == 5


def test_an_idle_connection_asks_for_the_page_as_the_load_does_and_a_silent_one_for_nothing():
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(ANSWER)
        got.append(await reader.read())

    with serving(serve) as seen:
        with held(seen, idle=1):
            pass
        until(lambda: seen.ended == 1)
    assert got == [b"GET /page HTTP/1.1\r\nHost: shop.example\r\nX-Own: 1\r\n\r\n", b""]


def test_a_load_without_any_opens_none():
    with serving(answering(ANSWER)) as seen, held(seen) as holder:
        assert holder.now is None
    assert seen.accepted == 0


def test_closed_silent_connections_are_opened_again_and_counted():
    with serving(refusing) as seen, held(seen, silent=1) as holder:
        until(lambda: holder.now.closed >= 3)
        assert seen.accepted >= 3
        assert holder.asked == 0


@pytest.mark.parametrize("how", [{"closes": True}, {"half": True}], ids=["closed", "half-closed"])
def test_idle_connections_that_are_closed_after_their_answer_are_opened_again(how):
    with serving(answering(ANSWER, **how)) as seen, held(seen, idle=1) as holder:
        until(lambda: holder.now.closed >= 2 and holder.asked >= 3)
        until(lambda: seen.accepted >= 3)


def test_a_server_that_never_reads_has_silent_connections_and_no_idle_ones(monkeypatch):
    monkeypatch.setattr(held_connections, "_PATIENCE_S", 0.05)
    with serving(deaf) as seen, held(seen, silent=1, idle=1) as holder:
        until(lambda: seen.accepted == 2)
        until(lambda: holder.now.silent == 1)
        assert holder.now == HeldConnections(silent=1, idle=0, closed=0)


def test_where_nobody_listens_the_load_begins_without_them():
    with serving(refusing) as seen:
        pass
    with held(seen, silent=1, idle=1) as holder:
        assert holder.now == HeldConnections(silent=0, idle=0, closed=0)


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        b"HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ANSWER,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: 1\r\n\r\n",
    ],
    ids=["sized", "empty", "without a body", "after a hint", "chunked"],
)
def test_an_answer_of_any_form_is_read_to_its_end(answer):
    with serving(answering(answer)) as seen, held(seen, idle=1) as holder:
        assert holder.now == HeldConnections(silent=0, idle=1, closed=0)


def test_what_is_no_http_is_no_answer_and_was_not_closed_by_the_server():
    with serving(answering(b"no\r\n\r\n")) as seen, held(seen, idle=1) as holder:
        until(lambda: holder.asked >= 2)
        assert holder.now == HeldConnections(silent=0, idle=0, closed=0)


def test_an_error_of_the_load_ends_the_connections():
    with serving(answering(ANSWER)) as seen:
        with pytest.raises(KeyboardInterrupt), held(seen, silent=1, idle=1):
            raise KeyboardInterrupt
        until(lambda: seen.ended == 2)
