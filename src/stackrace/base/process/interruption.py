"""Ctrl-C: signals that are held back during critical steps, and results that Ctrl-C can neither lose nor block."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Generic, TypeVar

_Handler = Callable[[int, FrameType | None], object]

# Windows has no SIGHUP
_STOPS = (signal.SIGINT, signal.SIGTERM, *filter(None, [getattr(signal, "SIGHUP", None)]))


class HeldSignals:
    """Ctrl-C and similar signals, held back from ``hold`` to ``release``; ``restore`` restores their handlers.

    A signal mask would not work: the kernel gives a process's signal to any thread that does not block it, numpy's
    included, and Python runs the handler in the main thread all the same. Only the main thread has handlers:
    in other threads nothing is held back. Signals that Python does not handle are left to the kernel.
    """

    def __init__(self) -> None:
        self._before: dict[signal.Signals, _Handler] = {}
        self._holding = False
        self._held: int | None = None

    def hold(self) -> None:
        """Hold signals back from now on, or again."""
        if not self._before and threading.current_thread() is threading.main_thread():
            for number in _STOPS:
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._handle)
        self._holding = True

    def release(self) -> None:
        """Let signals through; a signal that was held back is handled here, and may raise KeyboardInterrupt."""
        self._holding = False
        if self._held is not None:
            number, self._held = self._held, None
            signal.raise_signal(number)

    def restore(self) -> None:
        """Restore the previous handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._holding:
            self._held = number
        else:
            self._before[signal.Signals(number)](number, frame)


@contextmanager
def held() -> Iterator[HeldSignals]:
    """Hold signals back during a step that must not be interrupted; a held signal is handled after the step.

    The yielded object can let signals through during a part of the step.
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


_T = TypeVar("_T")


class Pending(Generic[_T]):
    """A future result. A waiting caller may be interrupted at any point, and wait again.

    An interruption within Thread.join or Event.wait may leave a lock held, and then everything blocks. SimpleQueue
    does not have this problem: it is written in C.
    """

    def __init__(self) -> None:
        self._result: _T | None = None
        self._error: BaseException | None = None
        self._over = False
        self._end: SimpleQueue[None] = SimpleQueue()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the result, ``timeout_s`` at most; return True if it is there. One thread may wait at a time."""
        # a flag beside the queue: an interrupted caller may have taken the item
        if not self._over:
            with suppress(Empty):
                self._end.get(timeout=timeout_s)
        return self._over

    def finish(self) -> _T:
        """Wait for the result and return it, or raise the error that came instead; may be called again."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]

    def settle(self, result: _T | None, error: BaseException | None = None) -> None:
        """Deliver the result, or the ``error`` that came instead."""
        self._result, self._error = result, error
        self._over = True
        self._end.put(None)


class Background(Pending[_T]):
    """Result of ``work``, started in a new thread; a ``daemon`` thread does not keep the interpreter alive."""

    def __init__(self, work: Callable[[], _T], *, daemon: bool = False) -> None:
        super().__init__()
        self._work = work
        # an interruption within Thread.start may leave it waiting forever
        with held():
            threading.Thread(target=self._run, daemon=daemon).start()

    def _run(self) -> None:
        try:
            result = self._work()
        except BaseException as error:
            self.settle(None, error)
        else:
            self.settle(result)
