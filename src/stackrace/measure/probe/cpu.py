"""CPU time of processes to the nanosecond, children that ended included, and how long they waited for it."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ..host import Offender
from .proc import Process, pids, process_name, read

__all__ = [
    "accounts",
    "cpu_by_process",
    "offenders",
    "process_cpu_ns",
    "spent_ns",
    "waited_s",
    "waits_ns",
]


def process_cpu_ns(pid: int) -> int | None:
    """Return the CPU time of all threads of ``pid``, ended ones included; None when it is gone.

    One system call, no permission needed. Linux derives a process's clock from its id, and
    clock_getcpuclockid(3) does nothing but this arithmetic: the complement of the id shifted by three bits,
    over 2 for the scheduler's own clock (include/linux/posix-timers_types.h, CPUCLOCK_SCHED). It is exact to
    the nanosecond where /proc/PID/stat counts in ticks of 10 ms, and ten times cheaper.
    """
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class _Account:
    """What CPU time a process had used."""

    pid: int
    parent: int
    own_ns: int
    """Itself."""
    reaped_ns: int
    """Through children that ended."""


Accounts = Mapping[tuple[int, int], _Account]
"""Accounts by process id and start time, so that a reused id is another process."""


def accounts(processes: Iterable[Process]) -> Accounts:
    """Read the account of each process that is still there."""
    opened = {}
    for process in processes:
        own_ns = process_cpu_ns(process.pid)
        if own_ns is not None:
            key = (process.pid, process.started)
            opened[key] = _Account(process.pid, process.parent, own_ns, process.reaped_ns)
    return opened


def spent_ns(before: Accounts, after: Accounts) -> int:
    """Return the CPU time a family spent between two readings of its accounts.

    A survivor counts by what it gained, a newcomer by all it has. A worker that ended meanwhile is found in
    its parent's ``reaped_ns`` with its whole life, from which what it had before is taken off again. Its part
    is exact to ± 20 ms (ticks); it is lost when nobody in the family waited for it (SIGCHLD ignored,
    orphans).
    """
    survivors = {account.pid for account in after.values()}
    ended = _ended(before, after, survivors)
    total = 0
    for key, account in after.items():
        was = before.get(key)
        total += account.own_ns - (was.own_ns if was else 0)
        reaped = account.reaped_ns - (was.reaped_ns if was else 0)
        total += max(0, reaped - ended[account.pid])
    return total


def _ended(before: Accounts, after: Accounts, survivors: set[int]) -> Counter[int]:
    """What processes that ended had used already, by the nearest ancestor that is still there."""
    parents = {account.pid: account.parent for account in before.values()}
    known: Counter[int] = Counter()
    for key, account in before.items():
        if key in after:
            continue
        heir = account.parent
        while heir not in survivors and heir in parents:
            heir = parents[heir]
        known[heir] += account.own_ns + account.reaped_ns
    return known


def waits_ns(processes: Iterable[int]) -> dict[int, int]:
    """Return for how long each thread of some processes was ready to run and had no core, by thread id.

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
    """Return for how long threads waited between two looks, all together; infinite where some ended meanwhile.

    Nobody knows how long those waited.
    """
    if before.keys() - after.keys():
        return math.inf
    return sum(wait_ns - before.get(task, 0) for task, wait_ns in after.items()) / 1e9


def cpu_by_process(without: Collection[int] = ()) -> Mapping[int, int]:
    """Return the CPU time in ns of every process that is not ours, nor among those left out, by id."""
    readings = {pid: process_cpu_ns(pid) for pid in pids() if pid != os.getpid() and pid not in without}
    return {pid: spent_ns for pid, spent_ns in readings.items() if spent_ns is not None}


def offenders(before: Mapping[int, int], after: Mapping[int, int], elapsed_s: float) -> tuple[Offender, ...]:
    """Return who used over 1 % of a core between two readings, the greediest first; at most five."""
    spent = {pid: after_ns - before.get(pid, 0) for pid, after_ns in after.items()}
    greedy = sorted((pid for pid in spent if spent[pid] > 1e7 * elapsed_s), key=lambda pid: -spent[pid])
    return tuple(
        Offender(pid=pid, name=process_name(pid), share=spent[pid] / 1e9 / max(elapsed_s, 1e-3))
        for pid in greedy[:5]
    )
