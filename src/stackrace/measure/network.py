"""The network between an engine and a host of stacks, as it was before a race."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NetworkPath"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPath:
    """The way between an engine and a host, measured before the first block.

    What it carries are the bytes per second that arrive over four connections of TCP, in the last three quarters of
    a transfer of two seconds or 64 MB. Lines faster than 1 Gb/s, or longer than 20 ms, may carry more.
    """

    engine: str
    """The engine's machine, by its name in the cluster."""
    host: str
    """The stacks' machine, by its name in the cluster."""
    round_trip_s: float
    """The median of a hundred round trips of one byte, in seconds."""
    round_trip_p99_s: float
    """The longest but one of them, in seconds."""
    engine_takes_bytes_per_s: float
    """What this engine takes from the host while no other does; 0 where nothing arrived."""
    engine_sends_bytes_per_s: float
    """What arrives at the host from this engine alone; 0 where nothing did."""
    host_sends_bytes_per_s: float
    """What the host sends to all its engines at once."""
    host_takes_bytes_per_s: float
    """What the host takes from all its engines at once."""
    retransmits: int
    """Segments that TCP sent again while this pair transferred alone. It sends faster until something is lost, so
    this is loss under full load, in queues of the machines themselves, too."""
    segments_sent: int
    """Segments with data that it sent meanwhile; 0 where the kernel does not count them."""

    @property
    def loss(self) -> float:
        """The share of segments that were sent again, 0 to 1."""
        return self.retransmits / self.segments_sent if self.segments_sent else 0.0
