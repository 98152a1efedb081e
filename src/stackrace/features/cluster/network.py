"""The ways between a host and its engines: each is measured alone, then all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ...base.errors import InputError, said_by
from ...measure.host import NetworkPath
from . import transfers
from .connection import Connection
from .members import Member

__all__ = ["paths", "require_way"]


@dataclass(frozen=True, slots=True)
class _Transfer:
    """What one transfer in both directions showed."""

    engines_take_bytes_per_s: float
    host_takes_bytes_per_s: float
    sent: transfers.Sent


def paths(connection: Connection, engines: Sequence[Member], host: Member) -> tuple[NetworkPath, ...]:
    """Return the way of each of ``engines`` to ``host``. Raises InputError where one does not get through to it."""
    with _listening(connection, host) as port:
        # before any line is full of what a transfer left on it
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
    """Raise InputError where ``engine`` does not get through to ``host``."""
    with _listening(connection, host) as port:
        _round_trips_s(connection, engine, host, port)


@contextmanager
def _listening(connection: Connection, host: Member) -> Iterator[int]:
    """Let ``host`` listen on a port, such as stacks listen on."""
    port = connection.call(host, transfers.listen, host.host)
    try:
        yield port
    finally:
        connection.call(host, transfers.close, port)


def _round_trips_s(connection: Connection, engine: Member, host: Member, port: int) -> tuple[float, float]:
    try:
        return connection.call(engine, transfers.round_trips_s, (host.host, port))
    except OSError as error:
        raise InputError(
            f"{engine.name} is to load stacks on {host.name}, but does not get through to {host.host}, "
            f"port {port} ({said_by(error)}); open the ephemeral ports there, net.ipv4.ip_local_port_range"
        ) from error


def _transferred(connection: Connection, engines: Sequence[Member], host: Member, port: int) -> _Transfer:
    """Let the host send to all ``engines`` at once, and then all of them to it."""
    address = (host.host, port)
    taking = [connection.begin(engine, transfers.take, address) for engine in engines]
    taken = [each.finish() for each in taking]
    giving = [connection.begin(engine, transfers.give, address) for engine in engines]
    given = [each.finish() for each in giving]
    received = connection.call(host, transfers.heard, port)
    return _Transfer(sum(taken), received.taken_bytes_per_s, sum(given, received.sent))
