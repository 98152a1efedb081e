"""Time limits for other programs, without the time in which they waited for a core.

Source: Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat; proc_pid_stat(5).
"""

from __future__ import annotations

import errno
import math
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..numbers import duration
from .processes import pids, read, read_process

LONGEST_S = 600.0
"""Wall time in seconds after which a deadline is over, even if processes waited; at least ten times its limit."""
_LOOK_S = 0.1
_LEAST_LOOKED = 20
"""Least ratio of the pause after a look to the duration of the look: a look at many threads takes long."""
_MOMENT_S = 0.05
"""Seconds within which a running thread shows CPU time."""
_LEAST_MENTIONED = 0.1
"""Least share of the time spent waiting that messages mention."""


class _ThreadState(NamedTuple):
    """State of a thread at a look."""

    used_ns: int
    waits_ns: int
    """Time it has waited for a core, as counted by the kernel."""
    ahead_ns: int
    """Part of a current wait that was counted here before the kernel counted it."""
    sleeps: int | None
    """Voluntary context switches so far; None if it was not ready to run."""


_NEW_THREAD = _ThreadState(0, 0, 0, None)


class Deadline:
    """Time limit that ends once the processes of ``members`` could run for ``limit_s``, sleep included.

    No time is counted while a thread of the processes, or the thread that watches them, waits for a core. The limit
    does not end while a thread waits, because the kernel reports a wait only afterwards. When the limit has passed,
    ``is_over`` is False once more, so that the caller looks again. A process that starts and ends between two looks
    is missed. If the kernel reports no waits, a thread that is ready and used no time has waited; if the kernel
    reports nothing at all, only ``LONGEST_S`` counts.
    """

    def __init__(self, limit_s: float, members: Callable[[], Iterable[int]]) -> None:
        self.limit_s = limit_s
        self._members = members
        self._begun_s = self._looked_s = time.monotonic()
        self._due_s = 0.0
        self._waited_s = self._hidden_s = 0.0
        self._was_over = False
        self._threads: dict[tuple[int, str], _ThreadState] = {}

    @property
    def elapsed_s(self) -> float:
        """Wall time in seconds since the deadline was created."""
        return time.monotonic() - self._begun_s

    @property
    def spent_s(self) -> float:
        """Seconds in which the processes could run."""
        if time.monotonic() - self._looked_s >= max(_LOOK_S, self._due_s):
            self._look()
        return self.elapsed_s - self._waited_s - self._hidden_s

    @property
    def left_s(self) -> float:
        """Seconds left; zero if the limit has passed, infinite if there is none."""
        if self.limit_s == math.inf:
            return math.inf
        left_s = self.limit_s - self.spent_s
        if left_s <= 0:
            # a thread may have waited since the last look
            self._look()
            left_s = max(self.limit_s - self.spent_s, _LOOK_S if self._one_waits() else 0.0)
        if left_s <= 0 and not self._was_over:
            # the caller looks once more: between two looks this process may have stood still for long
            self._was_over, left_s = True, _LOOK_S
        return max(min(left_s, max(LONGEST_S, 10 * self.limit_s) - self.elapsed_s), 0.0)

    @property
    def is_over(self) -> bool:
        """True once the limit has passed."""
        return not self.left_s

    @property
    def when(self) -> str:
        """Text for the time limit that has passed, with the waiting: ``after 1 min``."""
        return f"after {duration(self.limit_s)}{self.waiting}"

    @property
    def waiting(self) -> str:
        """Text, for the end of a sentence, on the time spent waiting for a core; empty if it was little."""
        elapsed_s = self.elapsed_s
        if self._waited_s < _LEAST_MENTIONED * elapsed_s:
            return ""
        waited, elapsed = duration(self._waited_s), duration(elapsed_s)
        return f"; it has waited {waited} of {elapsed} for a core: this machine is busy"

    def _look(self) -> None:
        """Add the longest wait of a thread since the last look to the time spent waiting."""
        now_s = time.monotonic()
        elapsed_ns = int((now_s - self._looked_s) * 1e9)
        members = list(self._members())
        tasks = [task for pid in members for task in _tasks(pid)]
        threads, longest_ns = {}, 0
        if not tasks and any(map(_exists, members)):
            self._hidden_s += elapsed_ns / 1e9
            elapsed_ns = 0
        ours = os.getpid(), str(threading.get_native_id())
        for task in (*tasks, ours):
            used_ns, waits_ns, is_known = _cpu_times(*task)
            before = self._threads.get(task, _NEW_THREAD)
            # the kernel counts a wait after its end, and part of it may have been counted here before
            ended_ns = waits_ns - before.waits_ns
            waited_ns, ahead_ns = max(ended_ns - before.ahead_ns, 0), 0 if ended_ns else before.ahead_ns
            if before is _NEW_THREAD:
                waited_ns = min(waited_ns, elapsed_ns)
            sleeps = None
            if task != ours and _is_ready(*task):
                sleeps = _sleeps(*task)
                awake = sleeps is not None and sleeps == before.sleeps
                if awake or not is_known or used_ns == before.used_ns:
                    going_on_ns = max(elapsed_ns - (used_ns - before.used_ns) - waited_ns, 0)
                    waited_ns, ahead_ns = waited_ns + going_on_ns, ahead_ns + going_on_ns
            threads[task] = _ThreadState(used_ns, waits_ns, ahead_ns, sleeps)
            longest_ns = max(longest_ns, waited_ns)
        self._threads = threads
        self._waited_s = min(self._waited_s + longest_ns / 1e9, now_s - self._begun_s - self._hidden_s)
        self._looked_s = now_s
        self._due_s = _LEAST_LOOKED * (time.monotonic() - now_s)

    def _one_waits(self) -> bool:
        """Tell whether a thread is ready to run but does not run."""
        ready = [task for task, seen in self._threads.items() if seen.sleeps is not None]
        used_ns = [_cpu_times(*task)[0] for task in ready]
        if ready:
            time.sleep(_MOMENT_S)
        now = [_cpu_times(*task)[0] if _is_ready(*task) else -1 for task in ready]
        return any(before == after for before, after in zip(used_ns, now, strict=True))


class OverdueError(subprocess.TimeoutExpired):
    """Error of a command that did not end before its deadline."""

    def __init__(self, command: Sequence[str], deadline: Deadline) -> None:
        super().__init__(command, deadline.limit_s)
        self.when, self.waiting = deadline.when, deadline.waiting

    def __str__(self) -> str:
        return f"{self.cmd[0]} does not end {self.when}"


def tree(pid: int) -> list[int]:
    """Return ``pid`` with all processes below it."""
    parents = {each.pid: each.parent for each in filter(None, map(read_process, pids()))}
    members = [pid]
    for member in members:
        members += [child for child, parent in parents.items() if parent == member and child not in members]
    return sorted(members)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno == errno.EPERM
    return True


def _tasks(pid: int) -> list[tuple[int, str]]:
    with suppress(OSError):
        return [(pid, name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 (hot)
    return []


def _cpu_times(pid: int, thread: str) -> tuple[int, int, bool]:
    """Return how long a thread ran and waited for a core, in ns, and whether the kernel counts its waiting."""
    counted = (read(f"/proc/{pid}/task/{thread}/schedstat") or b"").split()
    if len(counted) == 3 and int(counted[0]):
        return int(counted[0]), int(counted[1]), True
    seen = read_process(pid, thread)
    return seen.used_ns if seen else 0, 0, False


def _sleeps(pid: int, thread: str) -> int | None:
    """Return the voluntary context switches of a thread; None if the kernel does not report them."""
    status = read(f"/proc/{pid}/task/{thread}/status") or b""
    count = status.rpartition(b"\nvoluntary_ctxt_switches:")[2].split(maxsplit=1)
    return int(count[0]) if count and count[0].isdigit() else None


def _is_ready(pid: int, thread: str) -> bool:
    seen = read_process(pid, thread)
    return seen is not None and seen.state == "R"
