"""Records of the machine and its network: facts, limits, and activity during a race."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .load import SIGNED


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Facts about the machine that a race's results hold for."""

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
    """Kind of virtualisation; empty on bare metal."""
    python: str
    """Python version of stackrace itself."""
    limits: Mapping[str, int] = field(metadata=SIGNED)
    """Kernel limits by sysctl or rlimit name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkLimits:
    """Limits on the number of connections."""

    descriptors: int
    """File descriptors that one process may open (soft limit)."""
    descriptors_hard: int
    """Highest value that this limit may be raised to (hard limit)."""
    ephemeral_ports: int
    """Number of local ports per destination."""
    time_wait: int
    """Number of local ports that earlier connections hold at the moment (TIME_WAIT)."""
    tw_reuse: int
    """Reuse of ports in TIME_WAIT by the kernel: 0 never, 1 after a second, 2 on loopback only."""
    accept_queue: int
    """Longest backlog of any server, whatever it asks for (somaxconn)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDelta:
    """Activity of the whole machine around a slice. Network counters are those of our network namespace."""

    elapsed_s: float
    """Seconds between the two readings."""
    cores: int
    """Logical cores of the machine."""
    busy_s: float
    """CPU seconds of all processes, without interrupts."""
    own_s: float
    """CPU seconds of the measuring processes, including the engine's threads."""
    steal_s: float = 0.0
    """CPU seconds that the hypervisor gave to others."""
    stall_s: float = 0.0
    """Seconds in which some task wanted a CPU and had none."""
    throttled_s: float = 0.0
    """Seconds for which a CPU quota throttled our control group, added up over its cores."""
    clock_step_s: float = 0.0
    """Seconds by which the wall clock moved ahead of the monotonic one; negative if it fell behind."""
    swapped_pages: int = 0
    """Memory pages swapped in and out."""
    major_faults: int = 0
    """Page faults that had to read from a disk."""
    listen_overflows: int = 0
    """Connections lost because an accept queue was full."""
    timeouts: int = 0
    """TCP retransmission timeouts."""
    delayed_acks: int = 0
    """Acknowledgements that were sent only when their timer expired."""
    syn_retransmits: int = 0
    retransmits: int = 0
    """TCP segments sent again, ``syn_retransmits`` included."""
    segments_sent: int = 0
    """TCP segments sent."""
    accepted: int = 0
    """Connections that entered an accept queue."""
    time_wait: int = 0
    """Connections in TIME_WAIT at the end."""
    stack_cores_busy_s: float = 0.0
    """``busy_s`` of the stacks' cores alone; 0 if no cores were named."""
    stack_cores_steal_s: float = 0.0
    """``steal_s`` of the stacks' cores alone."""
    stack_cores: int = 0
    """Number of the stacks' cores."""
    canary_before_ns: float | None = None
    """Nanoseconds that the speed canary took on the stacks' cores before the slice; None if it did not run."""
    canary_after_ns: float | None = None
    """The same after the slice."""
    speed_change: float | None = None
    """Relative change of the stacks' cores' speed over the slice, -0.1 for a tenth slower; None if unknown."""
    frequency_change: float | None = None
    """Relative change of the stacks' cores' frequency over the slice; None if unknown."""
    heat_stops: int = 0
    """Number of times that the stacks' cores were slowed down for heat."""
    clocksource: str = ""
    """Name of the kernel's clock source at the end; empty if unknown."""
    clocksource_before: str = ""
    """The same at the beginning."""

    @property
    def capacity_s(self) -> float:
        """CPU seconds that all cores together could give."""
        return self.elapsed_s * self.cores


@dataclass(frozen=True, slots=True, kw_only=True)
class Offender:
    """Process outside the race that uses the processor."""

    pid: int
    name: str
    share: float
    """Share of one core that the process used."""

    @property
    def label(self) -> str:
        """Name with process id: ``cc1 (pid 812)``."""
        return f"{self.name} (pid {self.pid})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """Use of a race's cores by other programs for a moment, while its stacks were at rest."""

    share: float = 0.0
    """Share of the stacks' cores or of the engine's, whichever is larger."""
    offenders: tuple[Offender, ...] = ()
    """Processes that used the cores, the greediest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Use of the stacks' cores by others during one slice, and the speed of these cores.

    ``foreign_s`` is the cores' busy time minus that of the stack, the other stacks and ourselves. So it carries
    the errors of all of them.
    """

    elapsed_s: float
    """Seconds for which the cores were watched."""
    cores: int
    """Number of the stacks' cores."""
    stolen_s: float
    """CPU seconds of the stacks' cores that the hypervisor gave to others."""
    foreign_s: float = field(metadata=SIGNED)
    """CPU seconds of processes outside the race on the stacks' cores; errors may bring it a little below 0."""
    canary_before_ns: float | None = None
    """Nanoseconds that fixed work took on the stacks' cores before the slice; null if it could not run."""
    canary_after_ns: float | None = None
    """The same after the slice."""

    @property
    def taken(self) -> float:
        """Share of the stacks' cores that others used, stolen and foreign together; 0 if nobody watched."""
        capacity_s = self.elapsed_s * self.cores
        return (self.stolen_s + self.foreign_s) / capacity_s if capacity_s > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPath:
    """Network between an engine and a host, measured before the first block.

    Its throughput is the bytes per second that arrive over four TCP connections, in the last three quarters of a
    transfer of two seconds or 64 MB. Lines faster than 1 Gb/s, or longer than 20 ms, may carry more.
    """

    engine: str
    """Name of the engine's machine in the cluster."""
    host: str
    """Name of the stacks' machine in the cluster."""
    round_trip_s: float
    """Median round trip of one byte among a hundred, in seconds."""
    round_trip_p99_s: float
    """Second longest round trip among the hundred, in seconds."""
    engine_takes_bytes_per_s: float
    """Bytes per second that this engine receives from the host while no other does; 0 if nothing arrived."""
    engine_sends_bytes_per_s: float
    """Bytes per second that the host receives from this engine alone; 0 if nothing arrived."""
    host_sends_bytes_per_s: float
    """Bytes per second that the host sends to all its engines at once."""
    host_takes_bytes_per_s: float
    """Bytes per second that the host receives from all its engines at once."""
    retransmits: int
    """Segments that TCP sent again while this pair transferred alone. TCP sends faster until something is lost, so
    this is loss under full load, also in queues of the machines themselves."""
    segments_sent: int
    """Segments with data that TCP sent meanwhile; 0 if the kernel does not count them."""

    @property
    def loss(self) -> float:
        """Share of segments that were sent again, 0 to 1."""
        return self.retransmits / self.segments_sent if self.segments_sent else 0.0
