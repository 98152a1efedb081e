"""How long processes of our own waited for a CPU, so that what others waited can be told apart."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .proc import read

__all__ = ["waited_s"]


def waited_s(pids: Iterable[int]) -> float:
    """Return for how long all threads that ``pids`` have now were ready to run and did not, since they began.

    Threads that ended are forgotten. Source: Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat, the
    second figure, in nanoseconds; 0 on a kernel without it.
    """
    total_ns = 0
    for pid in pids:
        for thread in _threads(pid):
            words = (read(f"/proc/{pid}/task/{thread}/schedstat") or b"").split()
            total_ns += int(words[1]) if len(words) > 1 else 0
    return total_ns / 1e9


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 (hot path)
    except OSError:
        return []
