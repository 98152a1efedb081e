"""Memory over time, watched from the side."""

from __future__ import annotations

import time
from contextlib import suppress
from queue import Empty, SimpleQueue

from ...base.process import Background
from ..launch import MemorySample
from .sampler import Sampler

__all__ = ["MemoryWatch"]


class MemoryWatch:
    """Samples a launch's memory in a thread of its own until it is stopped; use it as a context manager.

    It keeps to the sampler's allowance: 0.4 % of one core, at most two samples a second.
    ``started_at`` is the launch's start on CLOCK_MONOTONIC (``time.monotonic()``). The first sample is taken
    at once if due.
    """

    def __init__(self, sampler: Sampler, started_at: float) -> None:
        self._sampler = sampler
        self._started_at = started_at
        self._samples: list[MemorySample] = []
        self._stopping: SimpleQueue[None] = SimpleQueue()
        self._work: Background[None] | None = None

    @property
    def samples(self) -> tuple[MemorySample, ...]:
        """The samples taken so far, in order of time."""
        return tuple(self._samples)

    def __enter__(self) -> MemoryWatch:
        self._work = Background(self._watch, daemon=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the watch and wait until its thread is gone; stopping twice is fine."""
        self._stopping.put(None)
        if self._work is not None:
            self._work.finish()

    def _watch(self) -> None:
        while True:
            with suppress(Empty):
                return self._stopping.get(timeout=self._sampler.allowance.pause_s())
            self._samples.append(self._sampler.sample_memory(time.monotonic() - self._started_at))
