"""Memory of processes by their proportional share: pages shared by n workers count 1/n for each."""

from __future__ import annotations

import os

from .proc import read

__all__ = ["memory_bytes"]

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def memory_bytes(pid: int) -> int:
    """Return the proportional set size of ``pid``; 0 for one that is gone.

    Where the kernel does not tell (another user's process, a kernel before 4.14), it is the resident set,
    which counts shared pages in full: an upper bound. Source: proc_pid_smaps(5), smaps_rollup.
    """
    rollup = read(f"/proc/{pid}/smaps_rollup")
    share = _proportional(rollup) if rollup else None
    return _resident(pid) if share is None else share


def _proportional(rollup: bytes) -> int | None:
    for line in rollup.splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return None


def _resident(pid: int) -> int:
    fields = (read(f"/proc/{pid}/statm") or b"").split()
    return int(fields[1]) * _PAGE_BYTES if len(fields) > 1 else 0
