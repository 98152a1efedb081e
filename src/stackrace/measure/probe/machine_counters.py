"""Counters of the whole machine around a slice, and the speed of its cores, measured and as reported."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...base.process.processes import read, read_number
from ..host import MachineDelta
from .host_reading import throttled_s
from .kernel_counters import (
    network,
    pressure_s,
    process_cpu_ns,
    stolen_by_core,
    time_wait,
    unused_by_core,
    virtual_memory,
)

_CPU = "/sys/devices/system/cpu"
_HASHED = bytes(48 * 1024)
_COUNTED = 6000
_TURNS = 12
_MOST_CORES = 4


def canary_ns(cores: Sequence[int]) -> float:
    """Return the mean CPU time in ns that a fixed piece of work takes on ``cores`` now; 0 without cores.

    A turn is BLAKE2b (RFC 7693) over 48 KiB, then a Python loop of about the same time, together a quarter of a
    millisecond on a core of today: a cause that slows only one of the two is not the machine. The shortest of
    twelve turns counts, in CPU time. So interrupts and waiting for the core do not show, but frequency, a busy
    sibling thread and stolen cycles do. All turns take 3 ms per core, on at most four cores, the first and the last
    among them. The calling thread visits each core and then returns to the cores that it was allowed before.

    On a machine whose speed shifts, a canary of 50 ms shows no more than a canary of 3 ms: docs/decisions has the
    figures.
    """
    allowed = os.sched_getaffinity(0)
    costs = []
    try:
        for core in _spread(cores):
            try:
                os.sched_setaffinity(0, {core})
            except OSError:
                continue  # taken offline, or forbidden to us
            costs.append(min(_turn_ns() for _ in range(_TURNS)))
    finally:
        os.sched_setaffinity(0, allowed)
    return sum(costs) / len(costs) if costs else 0.0


def _turn_ns() -> int:
    """Return the CPU time of one turn of the canary's work, in ns."""
    begun = time.thread_time_ns()
    hashlib.blake2b(_HASHED)
    for _ in range(_COUNTED):
        pass
    return time.thread_time_ns() - begun


def _spread(cores: Sequence[int]) -> Sequence[int]:
    """Return at most four of ``cores``, evenly from the first to the last."""
    if len(cores) <= _MOST_CORES:
        return cores
    step = (len(cores) - 1) / (_MOST_CORES - 1)
    return [cores[round(place * step)] for place in range(_MOST_CORES)]


def _frequency_khz(cores: Sequence[int]) -> float:
    """Return the mean frequency at which ``cores`` run now; 0 if unknown, as on most virtual machines.

    Source: Documentation/admin-guide/pm/cpufreq.rst, ``scaling_cur_freq``.
    """
    readings = [read_number(f"{_CPU}/cpu{core}/cpufreq/scaling_cur_freq") for core in cores]
    known = [khz for khz in readings if khz > 0]
    return sum(known) / len(known) if known else 0.0


def _heat_stops(cores: Sequence[int]) -> int:
    """Return the most slowdowns for heat since boot of one of ``cores`` or its package; 0 if unknown.

    Source: Documentation/ABI/testing/sysfs-devices-system-cpu, ``thermal_throttle`` (Intel alone has it).
    """
    return max(
        (
            read_number(f"{_CPU}/cpu{core}/thermal_throttle/{counter}_throttle_count")
            for core in cores
            for counter in ("core", "package")
        ),
        default=0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCounters:
    """Counters of the machine at one moment: sums since boot, unless a field says otherwise.

    Fields without a docstring are as in ``MachineDelta``.
    """

    at_s: float
    realtime_s: float
    cores: int
    """Number of cores that are online now."""
    unused_s: float
    """Seconds that all cores together spent in no process."""
    steal_s: float
    own_s: float
    """CPU time of the measuring processes."""
    stall_s: float
    throttled_s: float
    swapped_pages: int
    major_faults: int
    listen_overflows: int
    timeouts: int
    delayed_acks: int
    syn_retransmits: int
    retransmits: int
    segments_sent: int
    accepted: int
    time_wait: int
    """Connections in TIME_WAIT now."""
    stack_cores: int = 0
    stack_cores_unused_s: float = 0.0
    stack_cores_steal_s: float = 0.0
    frequency_khz: float = 0.0
    """Mean frequency of the stacks' cores now."""
    heat_stops: int = 0
    clocksource: str = ""
    """Name of the clock source now."""


def read_machine(measuring_pids: Iterable[int] = (), stack_cores: Sequence[int] = ()) -> MachineCounters:
    """Return all counters at this moment.

    ``measuring_pids`` are further processes of the measurement besides this process, such as a supervisor.
    ``stack_cores`` are the cores whose frequency, heat and busy time matter.
    """
    unused_s, stolen_s = unused_by_core(), stolen_by_core()
    at_s, realtime_s = time.monotonic(), time.time()
    memory, net = virtual_memory(), network()
    own_ns = sum(process_cpu_ns(pid) or 0 for pid in {os.getpid(), *measuring_pids})
    return MachineCounters(
        at_s=at_s,
        realtime_s=realtime_s,
        cores=max(len(unused_s), 1),
        unused_s=sum(unused_s.values()),
        steal_s=sum(stolen_s.values()),
        own_s=own_ns / 1e9,
        stall_s=pressure_s(),
        throttled_s=throttled_s(),
        swapped_pages=memory.get("pswpin", 0) + memory.get("pswpout", 0),
        major_faults=memory.get("pgmajfault", 0),
        listen_overflows=max(net.get("TcpExt.ListenOverflows", 0), net.get("TcpExt.ListenDrops", 0)),
        timeouts=net.get("TcpExt.TCPTimeouts", 0),
        delayed_acks=net.get("TcpExt.DelayedACKs", 0),
        syn_retransmits=net.get("TcpExt.TCPSynRetrans", 0),
        retransmits=net.get("Tcp.RetransSegs", 0),
        segments_sent=net.get("Tcp.OutSegs", 0),
        accepted=net.get("Tcp.PassiveOpens", 0),
        time_wait=time_wait(),
        stack_cores=len(stack_cores),
        stack_cores_unused_s=sum(unused_s.get(core, 0.0) for core in stack_cores),
        stack_cores_steal_s=sum(stolen_s.get(core, 0.0) for core in stack_cores),
        frequency_khz=_frequency_khz(stack_cores),
        heat_stops=_heat_stops(stack_cores),
        clocksource=_clocksource(),
    )


_SUMS = (
    "own_s", "steal_s", "stall_s", "throttled_s", "swapped_pages", "major_faults", "listen_overflows", "timeouts",
    "delayed_acks",
    "syn_retransmits", "retransmits", "segments_sent", "accepted", "heat_stops",
)  # fmt: skip
"""Counters whose growth a ``MachineDelta`` has, by the same names."""


def difference(
    before: MachineCounters, after: MachineCounters, *, canary_ns: tuple[float, float] = (0.0, 0.0)
) -> MachineDelta:
    """Return the changes between two readings; ``canary_ns`` is the cost of the canary's work before and after.

    0 stands for a canary that did not run.

    Busy time is wall time × cores minus unused time. Idle time is exact, while user and system time are sampled by
    the tick, which misses processes that sleep and wake with it.
    """
    elapsed_s = after.at_s - before.at_s
    capacity_s = elapsed_s * after.cores
    stack_unused_s = after.stack_cores_unused_s - before.stack_cores_unused_s
    grown: Any = {name: getattr(after, name) - getattr(before, name) for name in _SUMS}
    return MachineDelta(
        elapsed_s=elapsed_s,
        cores=after.cores,
        busy_s=max(0.0, capacity_s - (after.unused_s - before.unused_s)),
        clock_step_s=after.realtime_s - before.realtime_s - elapsed_s,
        time_wait=after.time_wait,
        stack_cores_busy_s=max(0.0, elapsed_s * after.stack_cores - stack_unused_s),
        stack_cores_steal_s=max(0.0, after.stack_cores_steal_s - before.stack_cores_steal_s),
        stack_cores=after.stack_cores,
        canary_before_ns=canary_ns[0] or None,
        canary_after_ns=canary_ns[1] or None,
        speed_change=_change(canary_ns[1], canary_ns[0]),
        frequency_change=_change(before.frequency_khz, after.frequency_khz),
        clocksource=after.clocksource,
        clocksource_before=before.clocksource,
        **grown,
    )


def _change(was: float, is_: float) -> float | None:
    return is_ / was - 1 if was > 0 and is_ > 0 else None


def _clocksource() -> str:
    """Return the name of the current clock source; empty if the kernel does not report it.

    The kernel replaces ``tsc`` for good when its watchdog finds it unstable.
    Source: Documentation/timers/timekeeping.rst; /sys/devices/system/clocksource.
    """
    name = read("/sys/devices/system/clocksource/clocksource0/current_clocksource") or b""
    return name.decode(errors="replace").strip()
