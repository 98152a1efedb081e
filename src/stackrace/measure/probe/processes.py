"""Processes as the kernel tells of them, and who descends from whom."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .proc import read

__all__ = ["Process", "process_name", "read_process"]

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One line of /proc/PID/stat. Source: proc_stat(5)."""

    pid: int
    name: str
    zombie: bool
    parent: int
    session: int
    threads: int
    started: int
    """Clock ticks since boot: tells a process from a later one with the same id."""
    reaped_ns: int
    """CPU time of children that ended and were waited for, with theirs; it advances in clock ticks of 10 ms."""


def read_process(pid: int) -> Process | None:
    """Return what /proc/PID/stat says of ``pid``; None when there is no such process any more.

    The name stands in parentheses and may hold any character, so the fields are counted from the last one.
    Source: proc_pid_stat(5).
    """
    text = read(f"/proc/{pid}/stat")
    if not text:
        return None
    head, _, tail = text.rpartition(b")")
    fields = tail.split()
    return Process(
        pid,
        head.partition(b"(")[2].decode(errors="replace"),
        fields[0] in (b"Z", b"X"),
        int(fields[1]),
        int(fields[3]),
        int(fields[17]),
        int(fields[19]),
        (int(fields[13]) + int(fields[14])) * _TICK_NS,
    )


def process_name(pid: int) -> str:
    """Return the name of a process. Source: proc_pid_comm(5), at most 15 characters."""
    process = read_process(pid)
    return process.name if process else "one that ended"
