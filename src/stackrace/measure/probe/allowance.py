"""A probe may not become a load: how much CPU the memory samples may take."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Allowance"]


class Allowance:
    """Keeps repeated work below ``share`` of one core: after work that cost c, none is due for c/share.

    The cost is the working thread's own CPU time, kernel included, so it does not depend on how busy the
    machine is. Several watches that share one allowance stay below ``share`` together. Safe to use from any
    thread.
    """

    def __init__(self, share: float = 0.004, least_pause_s: float = 0.5) -> None:
        self._share = share
        self._least_pause_s = least_pause_s
        self._due_at = 0.0
        self._lock = threading.Lock()
        self.spent_s = 0.0

    def pause_s(self) -> float:
        """Return how long to wait until the next piece of work is due; 0 when it is."""
        return max(0.0, self._due_at - time.monotonic())

    @contextmanager
    def work(self) -> Iterator[None]:
        """Book what happens inside; one piece of work at a time."""
        with self._lock:
            began = time.thread_time()
            try:
                yield
            finally:
                self._book(time.thread_time() - began)

    def _book(self, cost_s: float) -> None:
        self.spent_s += cost_s
        now = time.monotonic()
        self._due_at = max(now + self._least_pause_s, max(now, self._due_at) + cost_s / self._share)
