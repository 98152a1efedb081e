"""A family of processes. The supervisor uses it: standard library only."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import ClassVar

from .descendants import is_adopted

__all__ = ["Family"]


class Family:
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
        self.known = {pid for pid in self.known if pid in tree or is_adopted(pid)}
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
        """Tell whether an orphan came out of this family: a daemon has left its session, but not its TMPDIR."""
        return bool(self.folder) and pid not in self.firsts and _temporary_folder(pid) == self.folder


def _temporary_folder(pid: int) -> str:
    """Return the TMPDIR that a process was started with, empty where it may not be known."""
    with contextlib.suppress(OSError):
        for variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if variable.startswith(b"TMPDIR="):
                return variable.removeprefix(b"TMPDIR=").decode(errors="surrogateescape")
    return ""
