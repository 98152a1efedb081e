"""The kernel's own counters, parsed from its tables."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from functools import cache

from .cpu import process_cpu_ns
from .proc import pids, read, read_process

__all__ = [
    "network",
    "pressure_s",
    "stolen_by_core",
    "time_wait",
    "unused_by_core",
    "used_by_core",
    "virtual_memory",
]

LOOK_S = 0.3
"""How long cores are looked at: ticks of 10 ms make it uncertain by a few per cent."""

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_KTHREADD = 2
_KINDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")

_NOBODYS = ("idle", "iowait", "steal")
_INTERRUPTS = ("irq", "softirq")


def unused_by_core() -> Mapping[int, float]:
    """Return the seconds that each online core spent in no process, from /proc/stat; its ksoftirqd is none.

    Idle time is exact on a tickless kernel, the other kinds are sampled at each tick. Interrupts are in no
    process's clock only where the kernel keeps their time apart. Elsewhere ``irq`` counts nothing, and they are on
    the clock of whoever was interrupted. Source: proc_stat(5); kernel/sched/cputime.c, CONFIG_IRQ_TIME_ACCOUNTING.
    """
    by_core = _ticks_by_core()
    if any(kinds["irq"] for kinds in by_core.values()):
        return {core: _seconds(kinds, *_NOBODYS, *_INTERRUPTS) for core, kinds in by_core.items()}
    threads = _interrupt_threads()
    serving_ns = {core: process_cpu_ns(threads[core]) or 0 for core in by_core if core in threads}
    return {core: _seconds(kinds, *_NOBODYS) + serving_ns.get(core, 0) / 1e9 for core, kinds in by_core.items()}


@cache
def used_by_core() -> Mapping[int, float]:
    """Return the share of each core that some process used, seen for ``LOOK_S``; always what the first look saw.

    So all that is prepared in this process gets the same cores.
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
    """Return the threads that serve interrupts when there are too many, by core. No container sees them."""
    processes = (read_process(pid) for pid in pids())
    return {
        int(thread.name.partition("/")[2]): thread.pid
        for thread in processes
        if thread is not None and thread.parent == _KTHREADD and thread.name.startswith("ksoftirqd/")
    }


def pressure_s() -> float:
    """Return for how long some task wanted a CPU and had none; 0 where the kernel does not tell.

    Source: Documentation/accounting/psi.rst, ``some total`` in microseconds.
    """
    fields = (read("/proc/pressure/cpu") or b"").split(b"\n", 1)[0].rpartition(b"total=")
    return int(fields[2]) / 1e6 if fields[2].isdigit() else 0.0


def virtual_memory() -> Mapping[str, int]:
    """Return /proc/vmstat by name."""
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
