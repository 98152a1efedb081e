"""The engine at work in a thread of its own, so that the main thread still hears Ctrl-C."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from ..model.load import LoadResult
from .engine import Monitor
from .held_signals import HeldSignals

__all__ = ["RunningEngine"]


class RunningEngine:
    """One run of the engine. It is over when the context is left, however that comes about.

    ``begun_s`` is when it began, on CLOCK_MONOTONIC. Signals that would end the run wait until somebody waits for
    the engine, who can cancel it: the interpreter does not end before the engine's thread.
    """

    def __init__(self, play: Callable[[Monitor], LoadResult]) -> None:
        self._play = play
        self._monitor = Monitor()
        self._result: LoadResult | None = None
        self._error: BaseException | None = None
        self._signals = HeldSignals()
        self.begun_s = 0.0
        # an event: join() that Ctrl-C interrupts takes the thread for ended before Python 3.13 (bpo-46726)
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self._signals.hold()
        self.begun_s = time.monotonic()
        try:
            threading.Thread(target=self._run).start()
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

    def wait(self, until_s: float) -> bool:
        """Wait until ``until_s`` on CLOCK_MONOTONIC or the engine's end; tells whether it has ended."""
        self._signals.release()
        return self._over.wait(min(max(until_s - time.monotonic(), 0.0), threading.TIMEOUT_MAX))

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
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def _cancel(self) -> None:
        if not self._over.is_set():
            self._monitor.cancel()
            self._over.wait()

    def _run(self) -> None:
        try:
            self._result = self._play(self._monitor)
        except BaseException as error:
            self._error = error
        finally:
            self._over.set()
