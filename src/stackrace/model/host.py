"""What the machine was while a race ran, and what it did meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .load import SIGNED

__all__ = ["HostFacts", "MachineDelta", "NetworkLimits"]


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
    """What bounds the number of connections.

    ``descriptors`` is the soft limit of one process, ``descriptors_hard`` what it may be raised to.
    ``ephemeral_ports`` are available per destination, ``time_wait`` of them are taken at the moment.
    ``tw_reuse`` is the kernel's setting: 0 never, 1 reuses such a port after a second, 2 on loopback only.
    ``accept_queue`` is somaxconn: no server's backlog is longer, whatever it asks for.
    """

    descriptors: int
    descriptors_hard: int
    ephemeral_ports: int
    time_wait: int
    tw_reuse: int
    accept_queue: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDelta:
    """What the whole machine did around a slice. Network counters are those of our network namespace.

    ``busy_s`` is the CPU time of all processes, interrupts left out; ``own_s`` that of the measuring
    processes, the engine's threads included. ``stall_s``: some task wanted a CPU and had none.
    ``throttled_s``: a quota of our control group held us back. ``clock_step_s``: how far the wall clock
    strayed from the monotonic one. ``listen_overflows`` counts connections that a full accept queue lost,
    ``accepted`` those it took; ``retransmits`` includes ``syn_retransmits``. ``time_wait`` is the number of
    such connections at the end.

    ``group_stall_s`` is ``stall_s`` for our own control group alone, None where that is not told.
    ``stack_cores_busy_s`` is ``busy_s`` of the stacks' cores alone, ``stack_cores_steal_s`` what was stolen of
    them, ``stack_cores`` how many they are; all are 0 where nobody asked.
    ``canary_before_ns`` and ``canary_after_ns`` are what the speed canary cost on these cores around the slice.
    ``speed_change`` is how much faster the stacks' cores were after the slice than before, -0.1 for a tenth
    slower; ``frequency_change`` the same for their frequency from the slice's beginning to its end. All are None
    where nobody knows. ``heat_stops``: how often they were slowed down for heat. ``clocksource`` is what the kernel
    told the time by at the end, empty when unknown, ``clocksource_before`` at the beginning.
    """

    elapsed_s: float
    cores: int
    busy_s: float
    own_s: float
    steal_s: float = 0.0
    stall_s: float = 0.0
    throttled_s: float = 0.0
    clock_step_s: float = 0.0
    swapped_pages: int = 0
    major_faults: int = 0
    listen_overflows: int = 0
    timeouts: int = 0
    syn_retransmits: int = 0
    retransmits: int = 0
    segments_sent: int = 0
    accepted: int = 0
    time_wait: int = 0
    group_stall_s: float | None = None
    stack_cores_busy_s: float = 0.0
    stack_cores_steal_s: float = 0.0
    stack_cores: int = 0
    canary_before_ns: float | None = None
    canary_after_ns: float | None = None
    speed_change: float | None = None
    frequency_change: float | None = None
    heat_stops: int = 0
    clocksource: str = ""
    clocksource_before: str = ""

    @property
    def capacity_s(self) -> float:
        """The CPU time that all cores together had to give."""
        return self.elapsed_s * self.cores
