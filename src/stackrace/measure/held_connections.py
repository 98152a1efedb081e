"""Connections held open beside a load: silent ones, which send nothing, and idle ones, kept open after one answer.

They show how a server holds a client that asks for nothing: by a worker, by a thread, or by some memory. One thread
on the engine's cores holds them all; it sleeps while they stay open.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from ..base.process import Background, Pending
from .engine.url import context_of
from .engine.visitor import written
from .load import HeldConnections, Load, Tls
from .workload import MOST_HEAD_BYTES, Request, Workload

_AT_ONCE = 32
"""Connections of one kind that are being opened at the same time."""
_PAUSE_S = 0.1
"""Seconds between two connections that are opened again, so that they never become a load of their own."""
_PATIENCE_S = 2.0
"""Seconds without a further connection after which the load begins without the rest."""
_LOOK_S = 0.01
_CHUNK = 1 << 16
_WITHOUT_BODY = (204, 304)
"""Source: RFC 9112 section 6.3."""


@contextmanager
def holding(
    address: tuple[str, int] | str, workload: Workload, load: Load, *, tls: Tls | None = None, cores: Sequence[int]
) -> Iterator[Holder]:
    """Hold the silent and idle connections of ``load`` to ``address`` until the context is left.

    The context begins once all are open, or as many as the server takes. Idle connections send the first GET
    request of ``workload``. They are opened first, since a server whose workers all wait for silent connections
    answers nobody.
    """
    holder = Holder(address, workload, load, tls)
    if not load.held:
        yield holder
        return
    loop, over, ready = asyncio.new_event_loop(), asyncio.Event(), Pending[None]()

    def hold() -> None:
        try:
            with suppress(OSError):
                # this moves only this thread
                os.sched_setaffinity(0, cores)
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(holder.hold(over, ready))
        finally:
            ready.settle(None)

    held = Background(hold, daemon=True)
    try:
        ready.finish()
        yield holder
    finally:
        # a loop that an error has ended is closed
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(over.set)
        held.finish()


class Holder:
    """The idle and silent connections that are held open beside one load."""

    def __init__(self, address: tuple[str, int] | str, workload: Workload, load: Load, tls: Tls | None) -> None:
        self._load = load
        request = next((each for each in workload.requests if each.method == "GET"), Request(path="/"))
        self._message = written(request, workload.host)
        plain: Callable[..., Coroutine[None, None, tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
        if isinstance(address, tuple):
            plain = partial(asyncio.open_connection, *address, limit=MOST_HEAD_BYTES)
        else:
            plain = partial(asyncio.open_unix_connection, address, limit=MOST_HEAD_BYTES)
        secure = plain if tls is None else partial(plain, ssl=context_of(tls), server_hostname=tls.name)
        self._connect = {"idle": secure, "silent": plain}
        self._open = {"idle": 0, "silent": 0}
        self._tried = Counter[str]()
        self._closed = 0
        self.asked = 0
        """Requests that idle connections sent so far."""

    @property
    def now(self) -> HeldConnections | None:
        """The connections at this moment; None if the load has none beside it."""
        return HeldConnections(**self._open, closed=self._closed) if self._load.held else None

    async def hold(self, over: asyncio.Event, ready: Pending[None]) -> None:
        """Open all connections, settle ``ready``, and close the connections when ``over`` is set."""
        turn = asyncio.Lock()
        kept: list[asyncio.Task[None]] = []
        for kind, number in (("idle", self._load.idle), ("silent", self._load.silent)):
            at_once = asyncio.Semaphore(_AT_ONCE)
            kept += [asyncio.create_task(self._keep(kind, at_once, turn)) for _ in range(number)]
            await self._until_tried(kind, number, over)
        ready.settle(None)
        await over.wait()
        for task in kept:
            task.cancel()
        await asyncio.gather(*kept, return_exceptions=True)

    async def _until_tried(self, kind: str, number: int, over: asyncio.Event) -> None:
        before, since_s = -1, 0.0
        while self._tried[kind] < number and not over.is_set():
            if self._tried[kind] != before:
                before, since_s = self._tried[kind], time.monotonic()
            if time.monotonic() - since_s > _PATIENCE_S:
                return
            await asyncio.sleep(_LOOK_S)

    async def _keep(self, kind: str, at_once: asyncio.Semaphore, turn: asyncio.Lock) -> None:
        """Keep one connection open; open it again whenever the server has closed or refused it."""
        while True:
            await self._connect_once(kind, at_once)
            async with turn:
                await asyncio.sleep(_PAUSE_S)

    async def _connect_once(self, kind: str, at_once: asyncio.Semaphore) -> None:
        writer = None
        try:
            async with at_once:
                reader, writer = await self._connect[kind]()
                if kind == "idle":
                    self.asked += 1
                    writer.write(self._message)
                    await _read_answer(reader)
            self._tried[kind] += 1
            self._open[kind] += 1
            try:
                while await reader.read(_CHUNK):
                    pass
            finally:
                self._open[kind] -= 1
            self._closed += 1
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            # refused, closed without an answer, or answered by something that is no HTTP
            self._tried[kind] += 1
            self._closed += writer is not None and isinstance(error, (OSError, EOFError))
        finally:
            if writer is not None:
                writer.transport.abort()


async def _read_answer(reader: asyncio.StreamReader) -> None:
    """Read one answer to GET.

    Raises ValueError or LimitOverrunError if the answer is not HTTP, EOFError if it is cut off.
    """
    status = 100
    while status < 200:
        head = await reader.readuntil(b"\r\n\r\n")
        # after "HTTP/1.1 "
        status = int(head[9:12])
    lines = (line.partition(b":") for line in head.lower().splitlines())
    fields = {name.strip(): value.strip() for name, _, value in lines}
    if status in _WITHOUT_BODY:
        return
    if fields.get(b"transfer-encoding", b"").endswith(b"chunked"):
        while size := int((await reader.readline()).partition(b";")[0], 16):
            await _skip(reader, size + len(b"\r\n"))
        while (await reader.readline()).strip():
            pass
    elif b"content-length" in fields:
        await _skip(reader, int(fields[b"content-length"]))
    else:
        while await reader.read(_CHUNK):
            pass


async def _skip(reader: asyncio.StreamReader, size: int) -> None:
    while size > 0:
        read = len(await reader.read(min(size, _CHUNK)))
        if not read:
            raise EOFError
        size -= read
