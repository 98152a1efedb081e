"""What the whole machine did around a slice."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

from ..model.host import MachineDelta
from .cgroup import throttled_s
from .cpu import process_cpu_ns
from .kernel_counters import cpu_times, interrupt_thread_s, network, pressure_s, time_wait, virtual_memory

__all__ = ["MachineCounters", "difference", "read_machine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCounters:
    """The machine at one moment: sums since boot, but for ``cores`` and ``time_wait``.

    ``unused_s`` is idle, stolen and interrupt time of all cores together; whatever else the cores had was
    spent in some process. ``own_s`` is the CPU time of the measuring processes. The rest is as in
    ``MachineDelta``.
    """

    at_s: float
    realtime_s: float
    cores: int
    unused_s: float
    steal_s: float
    own_s: float
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


def read_machine(own_pids: Iterable[int] = ()) -> MachineCounters:
    """Read all counters; ``own_pids`` measure too, beside this process (a supervisor, say)."""
    cores, cpu = cpu_times()
    at_s, realtime_s = time.monotonic(), time.time()
    memory, net = virtual_memory(), network()
    own_ns = sum(process_cpu_ns(pid) or 0 for pid in {os.getpid(), *own_pids})
    unused = ("idle", "iowait", "steal", "irq", "softirq")
    return MachineCounters(
        at_s=at_s,
        realtime_s=realtime_s,
        cores=cores,
        unused_s=sum(cpu.get(kind, 0.0) for kind in unused) + interrupt_thread_s(),
        steal_s=cpu.get("steal", 0.0),
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
    )


def difference(before: MachineCounters, after: MachineCounters) -> MachineDelta:
    """Return what happened between two readings.

    Busy time is wall time × cores less what was unused, because idle time is exact while user and system time
    are sampled by the tick, which processes that sleep and wake with it evade.
    """
    elapsed_s = after.at_s - before.at_s
    capacity_s = elapsed_s * after.cores
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
    )
