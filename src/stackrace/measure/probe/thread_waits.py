"""Waits of a stack's threads, from a few looks into /proc: for a lock, for a database, for anything else."""

from __future__ import annotations

import os
import platform
import struct
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from ...base.process.processes import read
from .proc import database_sockets

_MOST_THREADS = 256
"""Most threads that are read; a look at more would take milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadWaits:
    """Mean numbers of threads that ran in a slice, by what they waited for, without waits for requests."""

    lock: float = 0.0
    """Threads that waited for a lock."""
    database: float = 0.0
    """Threads that waited for a database's answer."""
    other: float = 0.0
    """Threads that ran, slept, or waited for anything else."""


class _Call(Enum):
    REQUEST = auto()
    LOCK = auto()
    FCNTL = auto()
    READ = auto()
    POLL = auto()
    DATABASE = auto()
    OTHER = auto()


# select pselect6 accept accept4 epoll_wait epoll_pwait epoll_pwait2; futex flock semop semtimedop; fcntl;
# read recvfrom recvmsg; poll ppoll. Source: arch/x86/entry/syscalls/syscall_64.tbl; asm-generic/unistd.h
_NUMBERS = {
    "x86_64": ((23, 270, 43, 288, 232, 281, 441), (202, 73, 65, 220), (72,), (0, 45, 47), (7, 271)),
    "aarch64": ((72, 202, 242, 22, 441), (98, 32, 193, 192), (25,), (63, 207, 212), (73,)),
}
_CALLS = {
    number: call
    for call, numbers in zip(_Call, _NUMBERS.get(platform.machine(), ()), strict=False)
    for number in numbers
}

_WAITING_LOCKS = (7, 38)
"""F_SETLKW and F_OFD_SETLKW of fcntl."""
_POLLED = struct.Struct("=ihh")
_MOST_POLLED = 4
"""Most descriptors of a poll that waits for an answer; an event loop with more waits for requests."""


class ThreadWatch:
    """Watch over the threads of ``processes``: create it before a slice, call `look` in it, and `mean` at its end.

    A look reads one small file of each thread. The kernel shows a thread's system call only to root and to
    ancestors of the thread's process. Source: proc_pid_syscall(5).
    """

    def __init__(self, processes: Collection[int]) -> None:
        self._processes = processes
        self._turns = _turns(processes)
        self._looks: list[dict[int, _Call]] = []

    def look(self) -> None:
        """Record what each thread waits for now."""
        if not _CALLS or len(self._turns) > _MOST_THREADS:
            return
        calls = {thread: self._call_of(pid, thread) for pid, thread in _threads(self._processes)}
        sockets = {thread: call for thread, call in calls.items() if isinstance(call, frozenset)}
        # only if a thread waits for a socket: the kernel takes some 10 ms where its table of connections is large.
        # And anew for each look, since many apps open a connection for each request
        databases = _databases() if sockets else set()
        answers = {
            thread: _Call.DATABASE if inodes & databases else _Call.OTHER for thread, inodes in sockets.items()
        }
        if found := {thread: call for thread, call in {**calls, **answers}.items() if isinstance(call, _Call)}:
            self._looks.append(found)

    def mean(self) -> ThreadWaits | None:
        """Return the mean of all looks, of threads that ran since the watch began; None if no look saw anything."""
        if not self._looks:
            return None
        ran = {thread for thread, turns in _turns(self._processes).items() if turns != self._turns.get(thread)}
        calls = [call for look in self._looks for thread, call in look.items() if thread in ran]
        lock, database, other = (
            calls.count(call) / len(self._looks) for call in (_Call.LOCK, _Call.DATABASE, _Call.OTHER)
        )
        return ThreadWaits(lock=lock, database=database, other=other)

    def _call_of(self, pid: int, thread: int) -> _Call | frozenset[int] | None:
        """Return the kind of system call that the thread waits in, or the sockets it reads; None if unknown."""
        words = (read(f"/proc/{pid}/task/{thread}/syscall") or b"").split()
        if len(words) < 3:  # "running", or nothing that we may see
            return _Call.OTHER if words else None
        call, first, second = _CALLS.get(int(words[0])), *(int(word, 16) for word in words[1:3])
        if call is _Call.LOCK or (call is _Call.FCNTL and second in _WAITING_LOCKS):
            return _Call.LOCK
        if call is _Call.REQUEST or (call is _Call.POLL and second > _MOST_POLLED):
            return _Call.REQUEST
        descriptors = [first] if call is _Call.READ else _polled(pid, first, second) if call is _Call.POLL else []
        return frozenset(inode for each in descriptors if (inode := _socket(pid, each))) or _Call.OTHER


def _threads(processes: Collection[int]) -> Iterator[tuple[int, int]]:
    for pid in processes:
        with suppress(OSError):
            yield from ((pid, int(name)) for name in os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 (hot path)


def _turns(processes: Collection[int]) -> dict[int, bytes]:
    """Return the number of times that each thread got a core, as the kernel writes it, by thread id.

    Source: sched-stats.rst, third number.
    """
    return {
        thread: (read(f"/proc/{pid}/task/{thread}/schedstat") or b"").rpartition(b" ")[2]
        for pid, thread in _threads(processes)
    }


def _databases() -> set[int]:
    with suppress(OSError):
        return database_sockets()
    return set()


def _socket(pid: int, descriptor: int) -> int:
    """Return the inode of the socket that the process has as ``descriptor``; 0 if it is something else."""
    with suppress(OSError):
        link = os.readlink(f"/proc/{pid}/fd/{descriptor}")  # noqa: PTH115 (hot path)
        return int(link[8:-1]) if link.startswith("socket:[") else 0
    return 0


def _polled(pid: int, address: int, number: int) -> list[int]:
    """Return the descriptors that a thread polls, from the array that it gave the kernel. Source: poll(2)."""
    with suppress(OSError, OverflowError), open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:  # noqa: PTH123
        array = os.pread(memory.fileno(), number * _POLLED.size, address)
        return [descriptor for descriptor, _, _ in _POLLED.iter_unpack(array)] if len(array) % 8 == 0 else []
    return []
