"""What the whole machine did around a slice."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..host import MachineDelta
from .cpu import process_cpu_ns
from .kernel_counters import network, pressure_s, stolen_by_core, time_wait, unused_by_core, virtual_memory
from .limits import throttled_s
from .proc import read
from .speed import frequency_khz, heat_stops

__all__ = ["MachineCounters", "clocksource", "difference", "read_machine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCounters:
    """The machine at one moment: sums since boot where nothing else is said. What is not explained here is as in
    ``MachineDelta``."""

    at_s: float
    realtime_s: float
    cores: int
    """Online now."""
    unused_s: float
    """What all cores together spent in no process."""
    steal_s: float
    own_s: float
    """CPU time of the measuring processes."""
    stall_s: float
    throttled_s: float
    swapped_pages: int
    major_faults: int
    listen_overflows: int
    timeouts: int
    syn_retransmits: int
    retransmits: int
    segments_sent: int
    accepted: int
    time_wait: int
    """Connections now."""
    stack_cores: int = 0
    stack_cores_unused_s: float = 0.0
    stack_cores_steal_s: float = 0.0
    frequency_khz: float = 0.0
    """Now."""
    heat_stops: int = 0
    clocksource: str = ""
    """Now."""


def read_machine(own_pids: Iterable[int] = (), stack_cores: Sequence[int] = ()) -> MachineCounters:
    """Read all counters; ``own_pids`` measure too, beside this process (a supervisor, say).

    ``stack_cores`` are those whose frequency, heat and busy time matter.
    """
    unused_s, stolen_s = unused_by_core(), stolen_by_core()
    at_s, realtime_s = time.monotonic(), time.time()
    memory, net = virtual_memory(), network()
    own_ns = sum(process_cpu_ns(pid) or 0 for pid in {os.getpid(), *own_pids})
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
        syn_retransmits=net.get("TcpExt.TCPSynRetrans", 0),
        retransmits=net.get("Tcp.RetransSegs", 0),
        segments_sent=net.get("Tcp.OutSegs", 0),
        accepted=net.get("Tcp.PassiveOpens", 0),
        time_wait=time_wait(),
        stack_cores=len(stack_cores),
        stack_cores_unused_s=sum(unused_s.get(core, 0.0) for core in stack_cores),
        stack_cores_steal_s=sum(stolen_s.get(core, 0.0) for core in stack_cores),
        frequency_khz=frequency_khz(stack_cores),
        heat_stops=heat_stops(stack_cores),
        clocksource=clocksource(),
    )


def difference(
    before: MachineCounters, after: MachineCounters, *, canary_ns: tuple[float, float] = (0.0, 0.0)
) -> MachineDelta:
    """Return what happened between two readings; ``canary_ns`` is what the canary's work cost before and after.

    0 stands for a canary that did not run.

    Busy time is wall time × cores less what was unused, because idle time is exact while user and system time
    are sampled by the tick, which processes that sleep and wake with it evade.
    """
    elapsed_s = after.at_s - before.at_s
    capacity_s = elapsed_s * after.cores
    stack_unused_s = after.stack_cores_unused_s - before.stack_cores_unused_s
    return MachineDelta(
        elapsed_s=elapsed_s,
        cores=after.cores,
        busy_s=max(0.0, capacity_s - (after.unused_s - before.unused_s)),
        own_s=after.own_s - before.own_s,
        steal_s=after.steal_s - before.steal_s,
        stall_s=after.stall_s - before.stall_s,
        throttled_s=after.throttled_s - before.throttled_s,
        clock_step_s=after.realtime_s - before.realtime_s - elapsed_s,
        swapped_pages=after.swapped_pages - before.swapped_pages,
        major_faults=after.major_faults - before.major_faults,
        listen_overflows=after.listen_overflows - before.listen_overflows,
        timeouts=after.timeouts - before.timeouts,
        syn_retransmits=after.syn_retransmits - before.syn_retransmits,
        retransmits=after.retransmits - before.retransmits,
        segments_sent=after.segments_sent - before.segments_sent,
        accepted=after.accepted - before.accepted,
        time_wait=after.time_wait,
        stack_cores_busy_s=max(0.0, elapsed_s * after.stack_cores - stack_unused_s),
        stack_cores_steal_s=max(0.0, after.stack_cores_steal_s - before.stack_cores_steal_s),
        stack_cores=after.stack_cores,
        canary_before_ns=canary_ns[0] or None,
        canary_after_ns=canary_ns[1] or None,
        speed_change=_change(canary_ns[1], canary_ns[0]),
        frequency_change=_change(before.frequency_khz, after.frequency_khz),
        heat_stops=after.heat_stops - before.heat_stops,
        clocksource=after.clocksource,
        clocksource_before=before.clocksource,
    )


def _change(was: float, is_: float) -> float | None:
    """How much more ``is_`` is than ``was``, as a share; None when either is unknown."""
    return is_ / was - 1 if was > 0 and is_ > 0 else None


def clocksource() -> str:
    """Return the name of the current clock source; empty where the kernel does not tell.

    The kernel leaves ``tsc`` for another one for good when its watchdog finds it unstable.
    Source: Documentation/timers/timekeeping.rst; /sys/devices/system/clocksource.
    """
    name = read("/sys/devices/system/clocksource/clocksource0/current_clocksource") or b""
    return name.decode(errors="replace").strip()
