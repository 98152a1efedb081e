"""Which processes live below this one. The supervisor uses it: standard library only. Source: proc_pid_stat(5)."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import ClassVar

_FORGET_S = 1.0
"""How long a process that is none of ours is known as such: its id may be given to one of ours later."""


class Descendants:
    """Every living process below this one, at the price of one directory listing and one read for each of ours.

    Each process is asked for its parent. To ask every thread for its children costs a read per thread, and a server
    may have thousands. Who descends from somebody else is not asked again before ``_FORGET_S``: it never becomes
    ours.
    """

    def __init__(self) -> None:
        self._strangers: set[int] = set()
        self._since_s = -_FORGET_S

    def living(self) -> dict[int, tuple[int, int]]:
        """Return every living process below this one: pid → (parent, session).

        Zombies do not count, unless other threads of theirs still run (proc_pid_stat(5), num_threads).
        """
        processes = self._read()
        ours = {0: False, os.getpid(): True, **dict.fromkeys(self._strangers, False)}
        for pid in processes:
            _climb(pid, processes, ours)
        self._strangers.update(pid for pid in processes if ours.get(pid) is False)
        return {
            pid: (int(fields[1]), int(fields[3]))
            for pid, fields in processes.items()
            if ours.get(pid) and _lives(fields)
        }

    def _read(self) -> dict[int, list[bytes]]:
        """Read all processes but this one and known strangers."""
        now_s = time.monotonic()
        if now_s - self._since_s >= _FORGET_S:
            self._strangers, self._since_s = set(), now_s
        existing = {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208 (hot)
        self._strangers &= existing
        processes = {}
        for pid in existing - self._strangers - {os.getpid()}:
            with contextlib.suppress(OSError, IndexError):
                processes[pid] = _stat(pid)
        return processes


def _climb(pid: int, processes: dict[int, list[bytes]], ours: dict[int, bool]) -> None:
    """Enter into ``ours`` whether ``pid`` and all between it and the first known ancestor are ours.

    Where a parent ended meanwhile its orphan may just have come to us; otherwise nothing is learnt of it now.
    """
    climbed: list[int] = []
    at = pid
    while at not in ours:
        if at in climbed or at not in processes:
            if not _is_adopted(climbed[-1]):
                return
            at = os.getpid()
            continue
        climbed.append(at)
        at = int(processes[at][1])
    ours.update(dict.fromkeys(climbed, ours[at]))


def descendants() -> dict[int, tuple[int, int]]:
    """Return every living process below this one, as ``Descendants`` sees them at first sight."""
    return Descendants().living()


def _stat(pid: int) -> list[bytes]:
    """Return the fields of proc_pid_stat(5) from the third on: state, parent, group, session…"""
    descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096).rpartition(b")")[2].split()
    finally:
        os.close(descriptor)


def _lives(fields: list[bytes]) -> bool:
    return fields[0] not in (b"Z", b"X") or int(fields[17]) > 1


def _is_adopted(pid: int) -> bool:
    """Tell whether a process lives and is a child of this one."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = _stat(pid)
        return _lives(fields) and int(fields[1]) == os.getpid()
    return False


class ProcessTree:
    """One spawned process with everything that came out of it."""

    firsts: ClassVar[set[int]] = set()

    def __init__(self, pid: int, stop: int, folder: str) -> None:
        self.firsts.add(pid)
        self.pid = pid
        self.stop = stop
        # private to one server of one launch, so that it tells whose an orphan is
        self.folder = folder
        self.code: int | None = None
        self.known: set[int] = {pid}

    def alive(self, tree: dict[int, tuple[int, int]]) -> list[int]:
        """Return its living members, given every process below the supervisor: pid → (parent, session)."""
        # an orphan on its way from its parent to us may be missing from the tree
        self.known = {pid for pid in self.known if pid in tree or _is_adopted(pid)}
        grown = True
        while grown:
            more = {
                pid
                for pid, (parent, session) in tree.items()
                if parent in self.known or session == self.pid or (parent == os.getpid() and self.sent(pid))
            } - self.known
            self.known |= more
            grown = bool(more)
        return sorted(self.known)

    def sent(self, pid: int) -> bool:
        """Tell whether an orphan came out of this tree: a daemon has left its session, but not its TMPDIR."""
        return bool(self.folder) and pid not in self.firsts and _temporary_folder(pid) == self.folder


def _temporary_folder(pid: int) -> str:
    """Return the TMPDIR that a process was started with, empty where it may not be known."""
    with contextlib.suppress(OSError):
        for variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if variable.startswith(b"TMPDIR="):
                return variable.removeprefix(b"TMPDIR=").decode(errors="surrogateescape")
    return ""
