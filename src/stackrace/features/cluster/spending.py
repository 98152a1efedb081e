"""What services spend, read again and again, so that any stretch of time can be asked for afterwards.

Only the machine of the stacks knows when a slice begins and ends, and it says so after the slice.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

from ...measure.launch import HopUsage
from ...measure.probe import Sampler

__all__ = ["Spending", "at"]

EVERY_S = 0.1
"""A look takes half a millisecond. Between two of them a service is said to work evenly."""
KEPT = 36_000
"""Looks that are kept: those of an hour."""

Look = tuple[float, Mapping[str, float]]
"""A moment on CLOCK_MONOTONIC, and the CPU seconds that each service had used by then."""


class Spending:
    """Looks at services, whose root processes are given by name; a context manager."""

    def __init__(self, pids: Mapping[str, Sequence[int]], supervisor_pid: int) -> None:
        self._sampler = Sampler(pids, supervisor_pid)
        self._looks: deque[Look] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> Self:
        self._sampler.begin()
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def between(self, begun_s: float, ended_s: float) -> tuple[HopUsage, ...]:
        """Return what each used between two moments that are over."""
        with self._lock:
            self._look()
            now = self._sampler.end()
            looks = list(self._looks)
        begun, ended = at(looks, begun_s), at(looks, ended_s)
        return tuple(replace(usage, cpu_s=ended[usage.hop] - begun[usage.hop]) for usage in now)

    def _keep(self) -> None:
        while not self._over.wait(EVERY_S):
            with self._lock:
                self._look()

    def _look(self) -> None:
        self._looks.append((time.monotonic(), self._sampler.spent_s()))


def at(looks: Sequence[Look], moment_s: float) -> Mapping[str, float]:
    """Return what each had used by ``moment_s``, by the looks around it, of which there is one at least."""
    after = bisect_left(looks, moment_s, key=lambda look: look[0])
    if after in (0, len(looks)):
        return looks[min(after, len(looks) - 1)][1]
    (early_s, early), (late_s, late) = looks[after - 1], looks[after]
    share = (moment_s - early_s) / (late_s - early_s)
    return {name: early[name] + share * (late[name] - early[name]) for name in late}
