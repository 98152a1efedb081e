"""Processes as the kernel reports them; any may vanish between two calls. Standard library only."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..unix import system_limit

_PAGE = 4096


def read(path: str) -> bytes | None:
    """Return the whole content of a small kernel file, or None if it is missing, forbidden or just vanished.

    Plain system calls cost a third of a file object, and a slice reads dozens of files.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return _drain(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _drain(descriptor: int) -> bytes:
    parts = [os.read(descriptor, _PAGE)]
    while len(parts[-1]) > _PAGE // 2:  # a short first read of a kernel file is all of it
        parts.append(os.read(descriptor, 16 * _PAGE))
    return b"".join(parts)  # a table of connections comes in hundreds of parts


def read_number(path: str) -> int:
    """Return the first number in a kernel file; 0 if there is none."""
    words = (read(path) or b"").split()
    try:
        return int(words[0])
    except (IndexError, ValueError):
        return 0


def pids() -> list[int]:
    """Return the ids of all processes that exist right now; ascending."""
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 (hot path)


_TICK_NS = 1_000_000_000 // system_limit("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One line of /proc/PID/stat. Source: proc_stat(5)."""

    pid: int
    name: str
    state: str
    """State of the process; R if it runs, or waits for a core."""
    parent: int
    session: int
    threads: int
    started: int
    """Start in clock ticks since boot; distinguishes a process from a later process with the same id."""
    used_ns: int
    """CPU time of the process itself in ns, which the kernel counts in clock ticks, mostly of 10 ms."""
    reaped_ns: int
    """CPU time in ns of ended children that were waited for, and of their children, in the same ticks."""

    @property
    def lives(self) -> bool:
        """True while a thread runs, which a zombie may have. Source: proc_pid_stat(5), num_threads."""
        return self.state not in ("Z", "X") or self.threads > 1


def read_process(pid: int, thread: str = "") -> Process | None:
    """Return the line /proc/PID/stat of ``pid``, or of its ``thread``; None if it is gone.

    The name stands in parentheses and may contain any character, so the fields are counted from the last one.
    Source: proc_pid_stat(5).
    """
    text = read(f"/proc/{pid}/task/{thread}/stat" if thread else f"/proc/{pid}/stat")
    if not text:
        return None
    head, _, tail = text.rpartition(b")")
    fields = tail.split()
    return Process(
        pid,
        head.partition(b"(")[2].decode(errors="replace"),
        fields[0].decode(),
        int(fields[1]),
        int(fields[3]),
        int(fields[17]),
        int(fields[19]),
        (int(fields[11]) + int(fields[12])) * _TICK_NS,
        (int(fields[13]) + int(fields[14])) * _TICK_NS,
    )


def process_name(pid: int) -> str:
    """Return the name of a process. Source: proc_pid_comm(5), at most 15 characters."""
    process = read_process(pid)
    return process.name if process else "one that ended"
