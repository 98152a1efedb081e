"""The engine at work in a thread of its own, so that the main thread still hears Ctrl-C."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, Self

from ...base.process import Background, HeldSignals
from ..load import LoadResult
from .engine import Monitor

__all__ = ["EngineRun", "Play", "RunningEngine"]

Play = Callable[[Monitor], LoadResult]
"""Sends a load until its end, or until the monitor is cancelled; returns what was seen."""


class EngineRun(Protocol):
    """One run of an engine, here or on other machines. It is over when the context is left."""

    begun_s: float
    """When it began, on CLOCK_MONOTONIC."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, *_: object) -> None:
        """End it, if it has not ended by itself."""

    def wait(self, until_s: float) -> bool:
        """Wait until ``until_s`` on CLOCK_MONOTONIC or the end; tells whether it has ended."""

    def bins(self, bin_s: float) -> Iterator[Sequence[int]]:
        """Yield the right answers in each ``bin_s`` so far, at the end of each, until the end."""

    def finish(self, until_s: float = float("inf")) -> LoadResult:
        """Wait for the end, brought about at ``until_s``; return the result."""


class RunningEngine:
    """One run of the engine. It is over when the context is left, however that comes about.

    ``begun_s`` is when it began, on CLOCK_MONOTONIC. Signals that would end the run wait until somebody waits for
    the engine, who can cancel it: the interpreter does not end before the engine's thread.
    """

    def __init__(self, play: Play) -> None:
        self._play = play
        self._monitor = Monitor()
        self._signals = HeldSignals()
        self.begun_s = 0.0

    def __enter__(self) -> Self:
        self._signals.hold()
        self.begun_s = time.monotonic()
        try:
            self._work = Background(lambda: self._play(self._monitor))
        except RuntimeError:
            # no thread can be had: __exit__ will not be called
            self._signals.restore()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._signals.release()
        finally:
            try:
                self._cancel()
            finally:
                self._signals.restore()

    @property
    def cancelled(self) -> bool:
        """Whether the run was ended early."""
        return self._monitor.cancelled

    @property
    def opened(self) -> int:
        """Connections that were open before the run started, so far; 0 where it opens none first."""
        return self._monitor.opened

    def wait(self, until_s: float) -> bool:
        """Wait until ``until_s`` on CLOCK_MONOTONIC or the engine's end; tells whether it has ended."""
        self._signals.release()
        return self._work.wait(min(max(until_s - time.monotonic(), 0.0), threading.TIMEOUT_MAX))

    def follow(self, every_s: float, look: Callable[[int, int, float], None]) -> None:
        """Wait for the end; every ``every_s`` show ``look`` the right answers, errors and seconds so far.

        Ctrl-C ends the run early; the result then holds what was measured so far.
        """
        while True:
            try:
                while not self.wait(time.monotonic() + every_s):
                    look(*self._monitor.snapshot())
                return
            except KeyboardInterrupt:
                self._monitor.cancel()

    def bins(self, bin_s: float) -> Iterator[Sequence[int]]:
        """Yield the right answers in each ``bin_s`` so far, at the end of each, until the engine ends.

        It is looked in the middle of the engine's next bin, which by then has surely counted the one before.
        """
        counts: list[int] = []
        ended = False
        while not ended:
            _, _, elapsed_s = self._monitor.snapshot()
            ended = self.wait(time.monotonic() + (len(counts) + 1.5) * bin_s - elapsed_s)
            if not ended:
                counts.append(self._monitor.snapshot()[0] - sum(counts))
                yield counts

    def finish(self, until_s: float = float("inf")) -> LoadResult:
        """Wait for the end, brought about at ``until_s``; return the result or raise what the engine raised."""
        if not self.wait(until_s):
            self._cancel()
        return self._work.finish()

    def _cancel(self) -> None:
        if not self._work.wait(0):
            self._monitor.cancel()
            self._work.wait()
