"""The kernel's own counters, parsed from its tables."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import cache

from .cpu import process_cpu_ns
from .proc import pids, read
from .processes import read_process

__all__ = [
    "UNUSED",
    "cpu_times",
    "interrupt_thread_s",
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

UNUSED = ("idle", "iowait", "irq", "softirq", "steal")
"""What a core did that was no process's work."""


def cpu_times() -> tuple[int, Mapping[str, float]]:
    """Return the number of online CPUs and the seconds they spent by kind, from /proc/stat.

    Idle time is exact on a tickless kernel, the other kinds are sampled at each tick. Source: proc_stat(5).
    """
    lines = (read("/proc/stat") or b"").splitlines()
    total = lines[0].split()[1:] if lines else []
    cores = sum(line.startswith(b"cpu") for line in lines) - 1
    return max(cores, 1), {kind: int(ticks) / _TICKS_PER_S for kind, ticks in zip(_KINDS, total, strict=False)}


def unused_by_core() -> Mapping[int, float]:
    """Return the seconds that each online core spent in no process, from /proc/stat; its ksoftirqd is none.

    Source: proc_stat(5).
    """
    unused, threads = {}, _interrupt_threads()
    for core, kinds in _ticks_by_core().items():
        serving_ns = (process_cpu_ns(threads[core]) or 0) if core in threads else 0
        unused[core] = sum(kinds.get(kind, 0) for kind in UNUSED) / _TICKS_PER_S + serving_ns / 1e9
    return unused


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
    return {core: kinds.get("steal", 0) / _TICKS_PER_S for core, kinds in _ticks_by_core().items()}


def _ticks_by_core() -> Mapping[int, Mapping[str, int]]:
    by_core = {}
    for line in (read("/proc/stat") or b"").splitlines():
        name, *ticks = line.split()
        if name.startswith(b"cpu") and name[3:].isdigit():
            by_core[int(name[3:])] = dict(zip(_KINDS, map(int, ticks), strict=False))
    return by_core


def interrupt_thread_s() -> float:
    """Return the CPU time of the threads that serve interrupts when there are too many (ksoftirqd)."""
    return sum(process_cpu_ns(pid) or 0 for pid in _interrupt_threads().values()) / 1e9


@cache
def _interrupt_threads() -> Mapping[int, int]:
    """Return the ids of these threads by core. None are visible inside a container."""
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
