"""Signals that are kept back while nobody could act on them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["HeldSignals", "held"]

_Handler = Callable[[int, FrameType | None], object]

_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class HeldSignals:
    """Keeps back Ctrl-C, and what is handled like it, from ``hold`` to ``release``; ``restore`` ends that for good.

    A signal mask would not do: the kernel gives a process's signal to any thread that does not block it, numpy's
    included, and Python runs the handler in the main thread all the same. Only the main thread has handlers:
    elsewhere nothing is kept back. Signals that Python does not handle are left to the kernel.
    """

    def __init__(self) -> None:
        self._before: dict[signal.Signals, _Handler] = {}
        self._holding = False
        self._held: int | None = None

    def hold(self) -> None:
        """Keep signals back from now on, or again."""
        if not self._before and threading.current_thread() is threading.main_thread():
            for number in _STOPS:
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._handle)
        self._holding = True

    def release(self) -> None:
        """Let signals through; one that was kept back is handled here, so it may raise KeyboardInterrupt."""
        self._holding = False
        if self._held is not None:
            number, self._held = self._held, None
            signal.raise_signal(number)

    def restore(self) -> None:
        """Set the handlers of before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._holding:
            self._held = number
        else:
            self._before[signal.Signals(number)](number, frame)


@contextmanager
def held() -> Iterator[HeldSignals]:
    """Keep signals back for a moment that must not be cut in two; one that came is handled at its end.

    What is yielded may let them through for a part of it.
    """
    signals = HeldSignals()
    signals.hold()
    try:
        yield signals
    finally:
        try:
            signals.release()
        finally:
            signals.restore()
