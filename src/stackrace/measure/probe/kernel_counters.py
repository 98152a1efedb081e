"""Counters of the kernel: CPU time of processes in nanoseconds, their waits for a core, memory and network."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from ...base.process.processes import Process, pids, process_name, read, read_process
from ...base.unix import system_limit
from ..host import Offender


def process_cpu_ns(pid: int) -> int | None:
    """Return the CPU time in ns of all threads of ``pid``, ended ones included; None if the process is gone.

    This is one system call and needs no permission. Linux derives a process's clock from its id, and
    clock_getcpuclockid(3) does nothing but this arithmetic: the complement of the id shifted by three bits,
    over 2 for the scheduler's own clock (include/linux/posix-timers_types.h, CPUCLOCK_SCHED). The clock is exact to
    the nanosecond, while /proc/PID/stat counts in ticks of 10 ms, and ten times cheaper to read.
    """
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class _Account:
    pid: int
    parent: int
    cpu_ns: int
    """CPU time of the process itself."""
    reaped_ns: int
    """CPU time of the process's children that ended."""


Accounts = Mapping[tuple[int, int], _Account]
"""Accounts by process id and start time, so that a reused id is another process."""


def accounts(processes: Iterable[Process]) -> Accounts:
    """Return the account of each of ``processes`` that still exists."""
    opened = {}
    for process in processes:
        cpu_ns = process_cpu_ns(process.pid)
        if cpu_ns is not None:
            key = (process.pid, process.started)
            opened[key] = _Account(process.pid, process.parent, cpu_ns, process.reaped_ns)
    return opened


def spent_ns(before: Accounts, after: Accounts) -> int:
    """Return the CPU time in ns that a family spent between two readings of its accounts.

    A process in both readings counts with its growth, a new process with all its time. The whole time of a process
    that ended meanwhile is in its parent's ``reaped_ns``, so its time before the first reading is subtracted; this
    part is exact to ± 20 ms (ticks). The time is lost if no process of the family waited for the ended process
    (SIGCHLD ignored, orphans).
    """
    survivors = {account.pid for account in after.values()}
    ended = _ended(before, after, survivors)
    total = 0
    for key, account in after.items():
        was = before.get(key)
        total += account.cpu_ns - (was.cpu_ns if was else 0)
        reaped = account.reaped_ns - (was.reaped_ns if was else 0)
        total += max(0, reaped - ended[account.pid])
    return total


def _ended(before: Accounts, after: Accounts, survivors: set[int]) -> Counter[int]:
    """Return the time in ns that ended processes had used before, by their nearest ancestor that still exists."""
    parents = {account.pid: account.parent for account in before.values()}
    known: Counter[int] = Counter()
    for key, account in before.items():
        if key in after:
            continue
        heir = account.parent
        while heir not in survivors and heir in parents:
            heir = parents[heir]
        known[heir] += account.cpu_ns + account.reaped_ns
    return known


def waits_ns(processes: Iterable[int]) -> dict[int, int]:
    """Return the time in ns that each thread of ``processes`` was ready to run but had no core, by thread id.

    Source: Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat, the second number.
    """
    waits = {}
    for pid in processes:
        try:
            tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 (hot path)
        except OSError:
            continue
        for task in tasks:
            words = (read(f"/proc/{pid}/task/{task}/schedstat") or b"").split()
            if len(words) > 1:
                waits[int(task)] = int(words[1])
    return waits


def waited_s(before: Mapping[int, int], after: Mapping[int, int]) -> float:
    """Return the seconds that threads waited between two readings, in all; infinite if one of them ended.

    The waiting time of an ended thread is unknown.
    """
    if before.keys() - after.keys():
        return math.inf
    return sum(wait_ns - before.get(task, 0) for task, wait_ns in after.items()) / 1e9


def cpu_by_process(without: Collection[int] = ()) -> Mapping[int, int]:
    """Return the CPU time in ns of every process by id, except this one and those in ``without``."""
    readings = {pid: process_cpu_ns(pid) for pid in pids() if pid != os.getpid() and pid not in without}
    return {pid: spent_ns for pid, spent_ns in readings.items() if spent_ns is not None}


def offenders(before: Mapping[int, int], after: Mapping[int, int], elapsed_s: float) -> tuple[Offender, ...]:
    """Return the processes that used over 1 % of a core between two readings, the greediest first; at most five."""
    spent = {pid: after_ns - before.get(pid, 0) for pid, after_ns in after.items()}
    greedy = sorted((pid for pid in spent if spent[pid] > 1e7 * elapsed_s), key=lambda pid: -spent[pid])
    return tuple(
        Offender(pid=pid, name=process_name(pid), share=spent[pid] / 1e9 / max(elapsed_s, 1e-3))
        for pid in greedy[:5]
    )


LOOK_S = 0.3
"""Seconds for which cores are watched. Ticks of 10 ms make the result uncertain by a few per cent."""

_TICKS_PER_S = system_limit("SC_CLK_TCK")
_KTHREADD = 2
_KINDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")

_NOBODYS = ("idle", "iowait", "steal")
_INTERRUPTS = ("irq", "softirq")


def unused_by_core() -> Mapping[int, float]:
    """Return the seconds that each online core spent in no process, from /proc/stat; ksoftirqd is no process here.

    Idle time is exact on a tickless kernel, the other kinds are sampled at each tick. Interrupts are in no
    process's clock only if the kernel accounts for their time separately. Otherwise ``irq`` is 0, and their time is
    on the clock of the interrupted process.
    Source: proc_stat(5); kernel/sched/cputime.c, CONFIG_IRQ_TIME_ACCOUNTING.
    """
    by_core = _ticks_by_core()
    if any(kinds["irq"] for kinds in by_core.values()):
        return {core: _seconds(kinds, *_NOBODYS, *_INTERRUPTS) for core, kinds in by_core.items()}
    threads = _interrupt_threads()
    serving_ns = {core: process_cpu_ns(threads[core]) or 0 for core in by_core if core in threads}
    return {core: _seconds(kinds, *_NOBODYS) + serving_ns.get(core, 0) / 1e9 for core, kinds in by_core.items()}


@cache
def used_by_core() -> Mapping[int, float]:
    """Return the share of each core that processes used during ``LOOK_S``; later calls return the first result.

    Because of this, all preparations in this process choose the same cores.
    """
    began_s, before = time.monotonic(), unused_by_core()
    time.sleep(LOOK_S)
    elapsed_s = time.monotonic() - began_s
    return {core: 1 - (now - before.get(core, now)) / elapsed_s for core, now in unused_by_core().items()}


def stolen_by_core() -> Mapping[int, float]:
    """Return the seconds of each online core that the hypervisor gave to others, from /proc/stat.

    Source: proc_stat(5), ``steal``.
    """
    return {core: _seconds(kinds, "steal") for core, kinds in _ticks_by_core().items()}


def _ticks_by_core() -> Mapping[int, Counter[str]]:
    by_core = {}
    for line in (read("/proc/stat") or b"").splitlines():
        name, *ticks = line.split()
        if name.startswith(b"cpu") and name[3:].isdigit():
            by_core[int(name[3:])] = Counter(dict(zip(_KINDS, map(int, ticks), strict=False)))
    return by_core


def _seconds(ticks: Counter[str], *kinds: str) -> float:
    return sum(ticks[kind] for kind in kinds) / _TICKS_PER_S


@cache
def _interrupt_threads() -> Mapping[int, int]:
    """Return the ids of the threads that serve interrupts if there are too many, by core; empty in containers."""
    processes = (read_process(pid) for pid in pids())
    return {
        int(thread.name.partition("/")[2]): thread.pid
        for thread in processes
        if thread is not None and thread.parent == _KTHREADD and thread.name.startswith("ksoftirqd/")
    }


def pressure_s() -> float:
    """Return the seconds for which some task wanted a CPU and had none; 0 if the kernel does not report it.

    Source: Documentation/accounting/psi.rst, ``some total`` in microseconds.
    """
    fields = (read("/proc/pressure/cpu") or b"").split(b"\n", 1)[0].rpartition(b"total=")
    return int(fields[2]) / 1e6 if fields[2].isdigit() else 0.0


def virtual_memory() -> Mapping[str, int]:
    """Return the counters of /proc/vmstat by name."""
    lines = (read("/proc/vmstat") or b"").decode().splitlines()
    return {name: int(value) for name, _, value in (line.partition(" ") for line in lines)}


def network() -> Mapping[str, int]:
    """Return the counters of /proc/net/netstat and /proc/net/snmp as ``TcpExt.ListenOverflows``.

    Both files pair a line of names with a line of values. They count for our whole network namespace.
    """
    counters: dict[str, int] = {}
    for path in ("/proc/net/netstat", "/proc/net/snmp"):
        lines = (read(path) or b"").decode().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=False):
            group, _, columns = names.partition(": ")
            numbers = values.partition(": ")[2].split()
            pairs = zip(columns.split(), map(int, numbers), strict=False)
            counters.update((f"{group}.{name}", number) for name, number in pairs)
    return counters


def time_wait() -> int:
    """Return the number of connections in TIME_WAIT, from /proc/net/sockstat."""
    for line in (read("/proc/net/sockstat") or b"").splitlines():
        words = line.split()
        if words[:1] == [b"TCP:"] and b"tw" in words:
            return int(words[words.index(b"tw") + 1])
    return 0
