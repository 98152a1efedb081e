"""Descendants of this process. Standard library only, because the supervisor imports it.

Source: proc_pid_stat(5).
"""

from __future__ import annotations

import os
import time
from typing import ClassVar

from ..base.process.processes import Process, pids, read, read_process

_FORGET_S = 1.0
"""Seconds for which a process is remembered as foreign: the kernel may reuse its id for a descendant."""


class Descendants:
    """All living descendants of this process, for the cost of one directory listing and one read per descendant.

    The parent of each process is read. Reading the children of every thread would cost a read per thread, and a
    server may have thousands. Foreign processes are not read again for ``_FORGET_S``: they never become ours.
    """

    def __init__(self) -> None:
        self._strangers: set[int] = set()
        self._since_s = -_FORGET_S

    def living(self) -> dict[int, tuple[int, int]]:
        """Return every living descendant of this process: pid → (parent, session).

        Zombies do not count, unless their other threads still run.
        """
        processes = self._read()
        ours = {0: False, os.getpid(): True, **dict.fromkeys(self._strangers, False)}
        for pid in processes:
            _climb(pid, processes, ours)
        self._strangers.update(pid for pid in processes if ours.get(pid) is False)
        return {
            pid: (process.parent, process.session)
            for pid, process in processes.items()
            if ours.get(pid) and process.lives
        }

    def _read(self) -> dict[int, Process]:
        now_s = time.monotonic()
        if now_s - self._since_s >= _FORGET_S:
            self._strangers, self._since_s = set(), now_s
        existing = set(pids())
        self._strangers &= existing
        unknown = map(read_process, existing - self._strangers - {os.getpid()})
        return {process.pid: process for process in unknown if process is not None}


def _climb(pid: int, processes: dict[int, Process], ours: dict[int, bool]) -> None:
    """Record in ``ours`` whether ``pid`` and its ancestors, up to the first known one, are our descendants.

    If a parent has ended meanwhile, this process may have adopted the orphan; otherwise nothing is recorded.
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
        at = processes[at].parent
    ours.update(dict.fromkeys(climbed, ours[at]))


def descendants() -> dict[int, tuple[int, int]]:
    """Return every living descendant of this process, read anew: pid → (parent, session)."""
    return Descendants().living()


def _is_adopted(pid: int) -> bool:
    process = read_process(pid)
    return process is not None and process.lives and process.parent == os.getpid()


class ProcessTree:
    """One spawned process with all its descendants, adopted orphans included."""

    firsts: ClassVar[set[int]] = set()

    def __init__(self, pid: int, stop: int, folder: str) -> None:
        self.firsts.add(pid)
        self.pid = pid
        self.stop = stop
        # private to one server of one launch, so that it identifies the owner of an orphan
        self.folder = folder
        self.code: int | None = None
        self.known: set[int] = {pid}

    def alive(self, tree: dict[int, tuple[int, int]]) -> list[int]:
        """Return the pids of the living members; ``tree`` is every process below the supervisor.

        ``tree`` maps each pid to its parent and its session.
        """
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
        """Tell whether an orphan belongs to this tree: a daemon leaves its session, but keeps its TMPDIR."""
        return bool(self.folder) and pid not in self.firsts and _temporary_folder(pid) == self.folder


def _temporary_folder(pid: int) -> str:
    """Return the TMPDIR that a process was started with; empty if it is unknown."""
    variables = (read(f"/proc/{pid}/environ") or b"").split(b"\0")
    value = next((each for each in variables if each.startswith(b"TMPDIR=")), b"")
    return os.fsdecode(value.removeprefix(b"TMPDIR="))
