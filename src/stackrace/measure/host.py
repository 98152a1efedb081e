"""What the machine and its network were while a race ran, and what it did meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .load import SIGNED


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Facts about the machine that bound a race's meaning."""

    system: str
    """Operating system."""
    kernel: str
    """Kernel release."""
    cpu: str
    """CPU model."""
    cores: int
    """Logical cores."""
    memory_bytes: int
    """Main memory in bytes."""
    virtual: str
    """Kind of virtualisation."""
    python: str
    """Python version of stackrace itself."""
    limits: Mapping[str, int] = field(metadata=SIGNED)
    """Kernel limits by sysctl or rlimit name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkLimits:
    """What bounds the number of connections."""

    descriptors: int
    """File descriptors that one process may have (soft limit)."""
    descriptors_hard: int
    """What that limit may be raised to."""
    ephemeral_ports: int
    """Local ports per destination."""
    time_wait: int
    """How many of them earlier connections hold at the moment (TIME_WAIT)."""
    tw_reuse: int
    """When the kernel reuses such a port: 0 never, 1 after a second, 2 on loopback only."""
    accept_queue: int
    """somaxconn: no server's backlog is longer, whatever it asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDelta:
    """What the whole machine did around a slice. Network counters are those of our network namespace."""

    elapsed_s: float
    """Seconds between the two readings."""
    cores: int
    """Logical cores of the machine."""
    busy_s: float
    """CPU seconds of all processes, interrupts left out."""
    own_s: float
    """CPU seconds of the measuring processes, the engine's threads included."""
    steal_s: float = 0.0
    """CPU seconds that the hypervisor gave to others."""
    stall_s: float = 0.0
    """Seconds in which some task wanted a CPU and had none."""
    throttled_s: float = 0.0
    """Seconds for which a quota of our control group held us back."""
    clock_step_s: float = 0.0
    """How far the wall clock strayed from the monotonic one."""
    swapped_pages: int = 0
    """Memory pages swapped in and out."""
    major_faults: int = 0
    """Page faults that had to read from a disk."""
    listen_overflows: int = 0
    """Connections that a full accept queue lost."""
    timeouts: int = 0
    """TCP retransmission timeouts."""
    delayed_acks: int = 0
    """Acknowledgements that were sent only after the timer for them."""
    syn_retransmits: int = 0
    retransmits: int = 0
    """TCP segments sent again, ``syn_retransmits`` included."""
    segments_sent: int = 0
    """TCP segments."""
    accepted: int = 0
    """Connections that accept queues took."""
    time_wait: int = 0
    """Connections in TIME_WAIT at the end."""
    stack_cores_busy_s: float = 0.0
    """``busy_s`` of the stacks' cores alone; 0 where nobody asked."""
    stack_cores_steal_s: float = 0.0
    """``steal_s`` of these cores."""
    stack_cores: int = 0
    """How many they are."""
    canary_before_ns: float | None = None
    """Nanoseconds that the speed canary took on these cores before the slice; None where it did not run."""
    canary_after_ns: float | None = None
    """The same after the slice."""
    speed_change: float | None = None
    """How much faster these cores were after the slice than before, -0.1 for a tenth slower; None where unknown."""
    frequency_change: float | None = None
    """The same for their frequency, from the slice's beginning to its end."""
    heat_stops: int = 0
    """How often they were slowed down for heat."""
    clocksource: str = ""
    """What the kernel told the time by at the end; empty when unknown."""
    clocksource_before: str = ""
    """The same at the beginning."""

    @property
    def capacity_s(self) -> float:
        """The CPU time that all cores together had to give."""
        return self.elapsed_s * self.cores


@dataclass(frozen=True, slots=True, kw_only=True)
class Offender:
    """A process that is not ours and uses the processor."""

    pid: int
    name: str
    share: float
    """The share of one core that it used."""

    @property
    def label(self) -> str:
        """``cc1 (pid 812)``."""
        return f"{self.name} (pid {self.pid})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """What other programs had of a race's cores for a moment, while its stacks were at rest."""

    share: float = 0.0
    """Of the stacks' cores or of the engine's, whichever is more."""
    offenders: tuple[Offender, ...] = ()
    """The greediest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What the machine did to the stacks' cores during one slice.

    ``foreign_s`` is what remains of the cores' busy time without the stack, the other stacks and ourselves. So it
    carries the errors of all of them.
    """

    elapsed_s: float
    """How long the cores were watched, in seconds."""
    cores: int
    """How many cores the stacks have."""
    stolen_s: float
    """CPU seconds of these cores that the hypervisor gave to others."""
    foreign_s: float = field(metadata=SIGNED)
    """CPU seconds of processes outside the race on these cores; errors may bring it a little below 0."""
    canary_before_ns: float | None = None
    """Nanoseconds that a fixed piece of work on these cores took before the slice; null where it could not run."""
    canary_after_ns: float | None = None
    """The same after the slice."""

    @property
    def taken(self) -> float:
        """The share of the stacks' cores that others had, stolen and foreign together; 0 when nobody watched."""
        capacity_s = self.elapsed_s * self.cores
        return (self.stolen_s + self.foreign_s) / capacity_s if capacity_s > 0 else 0.0


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
