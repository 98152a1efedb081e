"""Network paths between a host and its engines, measured over TCP on the kind of port that stacks listen on.

The host listens, and the first byte of an engine chooses what happens on a connection: echoes, or a stream of
bytes in one direction. The receiver ends streams after ``LASTS_S``. Each path is measured alone, then all at once.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from ...base.errors import InputError, said_by
from ...base.process import Background
from ...measure.host import NetworkPath
from .connection import Connection
from .members import Member

ECHOES = 100
STREAMS = 4
"""Number of streams: one alone would grow slowly over a long path, and halve its pace at each loss."""
LASTS_S = 2.0
"""Seconds of a transfer: a shaped line lets a burst through at full speed, then streams wait for lost segments."""
MOST_BYTES = 64_000_000
"""Bytes of all streams in one direction: half a second at 1 Gb/s."""
_OMITTED = 0.25
"""Share of a transfer in which TCP grows and bursts pass. Source: RFC 6349 (equilibrium); iperf3(1), --omit."""
CHUNK = bytes(65_536)
PATIENCE_S = 30.0
_LOOK_S = 0.05
_IDLE_S = 60.0
"""Seconds after which a host stops listening if nobody connects, because the coordinator is gone."""


class _Order:
    ECHOES = b"e"
    TO_ENGINE = b"d"
    TO_HOST = b"u"


@dataclass(frozen=True, slots=True)
class Sent:
    """TCP's counters for sent streams."""

    retransmits: int = 0
    segments: int = 0

    def __add__(self, other: Sent) -> Sent:
        return Sent(self.retransmits + other.retransmits, self.segments + other.segments)


@dataclass(frozen=True, slots=True)
class StreamCounts:
    """A host's counts of the streams since it was last asked."""

    taken_bytes_per_s: float
    sent: Sent


_Arrivals = list[tuple[float, int]]
"""Moments on CLOCK_MONOTONIC, and the bytes that arrived at each."""


@dataclass(slots=True)
class _Listener:
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

    def heard(self) -> StreamCounts:
        for stream in self.streams:
            stream.finish()
        heard = StreamCounts(pace(self.arrivals), sum(self.sent, Sent()))
        for each in (self.streams, self.arrivals, self.sent):
            each.clear()
        return heard


_listeners: dict[int, _Listener] = {}


def listen(host: str) -> int:
    """Listen on a new port of ``host`` until it is closed; return the port."""
    listening = socket.create_server((host, 0), backlog=128)
    listening.settimeout(_IDLE_S)
    port: int = listening.getsockname()[1]
    _listeners[port] = _Listener(listening)
    Background(_listeners[port].serve, daemon=True)
    return port


def heard(port: int) -> StreamCounts:
    """Wait for the streams on ``port`` to end, and return what was received and sent there since the last call."""
    return _listeners[port].heard()


def close(port: int) -> None:
    """Stop listening on ``port``."""
    listener = _listeners.pop(port, None)
    if listener is not None:
        # close() alone would not wake the thread that waits there
        with suppress(OSError):
            listener.listening.shutdown(socket.SHUT_RDWR)


def round_trips_s(address: tuple[str, int]) -> tuple[float, float]:
    """Return the median and the 99th percentile of round trips of one byte to ``address`` and back, in seconds.

    Raises OSError if nobody answers there.
    """
    with _connect(address, _Order.ECHOES) as peer:
        _echo(peer)
        trips_s = sorted(_echo(peer) for _ in range(ECHOES))
    return median(trips_s), trips_s[ECHOES * 99 // 100 - 1]


def take(address: tuple[str, int]) -> float:
    """Receive streams from ``address``; return their bytes per second. Raises OSError if nobody answers."""
    arrivals: _Arrivals = []
    _over_streams(address, _Order.TO_ENGINE, partial(_drain, arrivals=arrivals))
    return pace(arrivals)


def give(address: tuple[str, int]) -> Sent:
    """Send streams to ``address``. Raises OSError if nobody answers."""
    sent: list[Sent] = []
    _over_streams(address, _Order.TO_HOST, lambda peer: sent.append(_pour(peer)))
    return sum(sent, Sent())


def _over_streams(address: tuple[str, int], order: bytes, work: Callable[[socket.socket], None]) -> None:
    def on_stream() -> None:
        with _connect(address, order) as peer:
            work(peer)

    streams = [Background(on_stream, daemon=True) for _ in range(STREAMS)]
    for stream in streams:
        stream.finish()


def _connect(address: tuple[str, int], order: bytes) -> socket.socket:
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
    """Send until either side has enough; return TCP's counters, which remain even after the peer has gone."""
    with suppress(OSError):
        for _ in range(MOST_BYTES // STREAMS // len(CHUNK)):
            peer.sendall(CHUNK)
        peer.shutdown(socket.SHUT_WR)
        peer.recv(1)
    # tcpi_total_retrans and tcpi_data_segs_out, which Linux has since 4.6: struct tcp_info in linux/tcp.h
    stats = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256).ljust(160, b"\0")
    return Sent(*struct.unpack_from("=I", stats, 100), *struct.unpack_from("=I", stats, 156))


def _drain(peer: socket.socket, arrivals: _Arrivals) -> None:
    """Receive until ``LASTS_S`` after the first arrival on any of the streams; record the end, too."""
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
    """Return the bytes per second that arrived after the ``_OMITTED`` share; 0 if nothing arrived.

    A stream's end is an arrival of 0 bytes. After the first end, the line may not be full any more.
    """
    if not any(size for _, size in arrivals):
        return 0.0
    begun_s = min(at_s for at_s, size in arrivals if size)
    ended_s = min(at_s for at_s, size in arrivals if not size)
    since_s = begun_s + _OMITTED * (ended_s - begun_s)
    moved = sum(size for at_s, size in arrivals if since_s < at_s <= ended_s)
    return moved / max(ended_s - since_s, 1e-6)


@dataclass(frozen=True, slots=True)
class _Transfer:
    engines_take_bytes_per_s: float
    host_takes_bytes_per_s: float
    sent: Sent


def paths(connection: Connection, engines: Sequence[Member], host: Member) -> tuple[NetworkPath, ...]:
    """Return the network path of each of ``engines`` to ``host``. Raises InputError if one cannot reach it."""
    with _listening(connection, host) as port:
        # measured before a transfer fills the buffers of any line
        trips_s = [_round_trips_s(connection, engine, host, port) for engine in engines]
        alone = [_transferred(connection, (engine,), host, port) for engine in engines]
        together = _transferred(connection, engines, host, port) if len(engines) > 1 else alone[0]
    return tuple(
        NetworkPath(
            engine=engine.name,
            host=host.name,
            round_trip_s=median_s,
            round_trip_p99_s=p99_s,
            engine_takes_bytes_per_s=transfer.engines_take_bytes_per_s,
            engine_sends_bytes_per_s=transfer.host_takes_bytes_per_s,
            host_sends_bytes_per_s=together.engines_take_bytes_per_s,
            host_takes_bytes_per_s=together.host_takes_bytes_per_s,
            retransmits=transfer.sent.retransmits,
            segments_sent=transfer.sent.segments,
        )
        for engine, (median_s, p99_s), transfer in zip(engines, trips_s, alone, strict=True)
    )


def require_way(connection: Connection, engine: Member, host: Member) -> None:
    """Raise InputError if ``engine`` cannot reach ``host``."""
    with _listening(connection, host) as port:
        _round_trips_s(connection, engine, host, port)


@contextmanager
def _listening(connection: Connection, host: Member) -> Iterator[int]:
    port = connection.call(host, listen, host.host)
    try:
        yield port
    finally:
        connection.call(host, close, port)


def _round_trips_s(connection: Connection, engine: Member, host: Member, port: int) -> tuple[float, float]:
    try:
        return connection.call(engine, round_trips_s, (host.host, port))
    except OSError as error:
        raise InputError(
            f"{engine.name} is to load stacks on {host.name}, but does not get through to {host.host}, "
            f"port {port} ({said_by(error)}); open the ephemeral ports there, net.ipv4.ip_local_port_range"
        ) from error


def _transferred(connection: Connection, engines: Sequence[Member], host: Member, port: int) -> _Transfer:
    address = (host.host, port)
    taking = [connection.begin(engine, take, address) for engine in engines]
    taken = [each.finish() for each in taking]
    giving = [connection.begin(engine, give, address) for engine in engines]
    given = [each.finish() for each in giving]
    received = connection.call(host, heard, port)
    return _Transfer(sum(taken), received.taken_bytes_per_s, sum(given, received.sent))
