"""The network between an engine and a host of stacks, tried out over TCP on the kind of port that stacks listen on.

The host listens, and an engine says with its first byte what is to happen on a connection: echoes, or a stream of
bytes to one side. Who takes streams ends them after ``LASTS_S``.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from ...base.process import Background

__all__ = ["Heard", "Sent", "close", "give", "heard", "listen", "pace", "round_trips_s", "take"]

ECHOES = 100
STREAMS = 4
"""One alone would grow slowly over a long way, and halve its pace at each loss."""
LASTS_S = 2.0
"""A shaped line lets a burst through at full speed, and then streams wait for what it dropped of them."""
MOST_BYTES = 64_000_000
"""Of all streams in one direction: what 1 Gb/s carries in half a second."""
_OMITTED = 0.25
"""The share of a transfer in which TCP grows and bursts pass. Source: RFC 6349 (equilibrium); iperf3(1), --omit."""
CHUNK = bytes(65_536)
PATIENCE_S = 30.0
_LOOK_S = 0.05
"""How often a stream without a byte looks whether the others have ended."""
_IDLE_S = 60.0
"""A host listens no longer than this when nobody connects: the coordinator is gone."""


class _Order:
    """What an engine asks for."""

    ECHOES = b"e"
    TO_ENGINE = b"d"
    TO_HOST = b"u"


@dataclass(frozen=True, slots=True)
class Sent:
    """What TCP counted of streams that were sent."""

    retransmits: int = 0
    segments: int = 0

    def __add__(self, other: Sent) -> Sent:
        return Sent(self.retransmits + other.retransmits, self.segments + other.segments)


@dataclass(frozen=True, slots=True)
class Heard:
    """What a host had of the streams since it was last asked."""

    taken_bytes_per_s: float
    sent: Sent


_Arrivals = list[tuple[float, int]]
"""Moments on CLOCK_MONOTONIC, and the bytes that arrived at each."""


@dataclass(slots=True)
class _Listener:
    """A host's end."""

    listening: socket.socket
    arrivals: _Arrivals = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    streams: list[Background[None]] = field(default_factory=list)

    def serve(self) -> None:
        with self.listening, suppress(OSError):
            while True:
                peer, _ = self.listening.accept()
                self.streams.append(Background(partial(self._answer, peer), daemon=True))

    def _answer(self, peer: socket.socket) -> None:
        with peer, suppress(OSError):
            _prepare(peer)
            match peer.recv(1):
                case _Order.ECHOES:
                    while byte := peer.recv(1):
                        peer.sendall(byte)
                case _Order.TO_ENGINE:
                    self.sent.append(_pour(peer))
                case _Order.TO_HOST:
                    _drain(peer, self.arrivals)

    def heard(self) -> Heard:
        for stream in self.streams:
            stream.finish()
        heard = Heard(pace(self.arrivals), sum(self.sent, Sent()))
        for each in (self.streams, self.arrivals, self.sent):
            each.clear()
        return heard


_listeners: dict[int, _Listener] = {}


def listen(host: str) -> int:
    """Listen on a port of ``host``, which is returned, until it is closed."""
    listening = socket.create_server((host, 0), backlog=128)
    listening.settimeout(_IDLE_S)
    port: int = listening.getsockname()[1]
    _listeners[port] = _Listener(listening)
    Background(_listeners[port].serve, daemon=True)
    return port


def heard(port: int) -> Heard:
    """Wait for the streams on ``port`` to end, and return what was taken and sent there since the last time."""
    return _listeners[port].heard()


def close(port: int) -> None:
    """Listen on ``port`` no more."""
    listener = _listeners.pop(port, None)
    if listener is not None:
        # closed alone, it would not wake who waits there
        with suppress(OSError):
            listener.listening.shutdown(socket.SHUT_RDWR)


def round_trips_s(address: tuple[str, int]) -> tuple[float, float]:
    """Return the median and the 99th percentile of round trips of one byte to ``address`` and back, in seconds.

    Raises OSError where nobody is reached there.
    """
    with _connected(address, _Order.ECHOES) as peer:
        _echo(peer)
        trips_s = sorted(_echo(peer) for _ in range(ECHOES))
    return median(trips_s), trips_s[ECHOES * 99 // 100 - 1]


def take(address: tuple[str, int]) -> float:
    """Take streams from ``address``; returns the bytes per second that arrived. Raises OSError as above."""
    arrivals: _Arrivals = []
    _on_streams(address, _Order.TO_ENGINE, partial(_drain, arrivals=arrivals))
    return pace(arrivals)


def give(address: tuple[str, int]) -> Sent:
    """Send streams to ``address``. Raises OSError as above."""
    sent: list[Sent] = []
    _on_streams(address, _Order.TO_HOST, lambda peer: sent.append(_pour(peer)))
    return sum(sent, Sent())


def _on_streams(address: tuple[str, int], order: bytes, work: Callable[[socket.socket], None]) -> None:
    def on_stream() -> None:
        with _connected(address, order) as peer:
            work(peer)

    streams = [Background(on_stream, daemon=True) for _ in range(STREAMS)]
    for stream in streams:
        stream.finish()


def _connected(address: tuple[str, int], order: bytes) -> socket.socket:
    peer = socket.create_connection(address, timeout=PATIENCE_S)
    _prepare(peer)
    peer.sendall(order)
    return peer


def _prepare(peer: socket.socket) -> None:
    peer.settimeout(PATIENCE_S)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _echo(peer: socket.socket) -> float:
    begun_s = time.monotonic()
    peer.sendall(b".")
    if not peer.recv(1):
        raise ConnectionResetError("the connection was closed")
    return time.monotonic() - begun_s


def _pour(peer: socket.socket) -> Sent:
    """Send until it is enough for either side; what TCP counted is there even after the other has gone."""
    with suppress(OSError):
        for _ in range(MOST_BYTES // STREAMS // len(CHUNK)):
            peer.sendall(CHUNK)
        peer.shutdown(socket.SHUT_WR)
        peer.recv(1)
    # tcpi_total_retrans and tcpi_data_segs_out, which Linux has since 4.6: struct tcp_info in linux/tcp.h
    told = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256).ljust(160, b"\0")
    return Sent(*struct.unpack_from("=I", told, 100), *struct.unpack_from("=I", told, 156))


def _drain(peer: socket.socket, arrivals: _Arrivals) -> None:
    """Take what comes until ``LASTS_S`` after the first arrival on any of the streams; their end is noted, too."""
    until_s, buffer = time.monotonic() + PATIENCE_S, bytearray(len(CHUNK))
    with suppress(OSError):
        while (now_s := time.monotonic()) < until_s:
            if arrivals:
                until_s = arrivals[0][0] + LASTS_S
            peer.settimeout(min(max(until_s - now_s, 0.001), _LOOK_S))
            with suppress(TimeoutError):
                size = peer.recv_into(buffer)
                if not size:
                    break
                arrivals.append((time.monotonic(), size))
    arrivals.append((min(time.monotonic(), until_s), 0))


def pace(arrivals: _Arrivals) -> float:
    """Return the bytes per second that arrived after what is ``_OMITTED``; 0 where nothing did.

    A stream's end is an arrival of 0 bytes. From the first on, the line may be full no longer.
    """
    if not any(size for _, size in arrivals):
        return 0.0
    begun_s = min(at_s for at_s, size in arrivals if size)
    ended_s = min(at_s for at_s, size in arrivals if not size)
    since_s = begun_s + _OMITTED * (ended_s - begun_s)
    moved = sum(size for at_s, size in arrivals if since_s < at_s <= ended_s)
    return moved / max(ended_s - since_s, 1e-6)
