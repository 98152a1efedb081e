"""Results that are to come, which Ctrl-C can neither lose nor hang."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from .held_signals import held

__all__ = ["Background", "Pending"]

_T = TypeVar("_T")


class Pending(Generic[_T]):
    """A result that is to come. Whoever waits for it may be interrupted at any point, and wait again.

    An interruption within Thread.join or Event.wait may leave one of their locks held, and then nobody gets on;
    SimpleQueue is written in C.
    """

    def __init__(self) -> None:
        self._result: _T | None = None
        self._error: BaseException | None = None
        self._over = False
        self._end: SimpleQueue[None] = SimpleQueue()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it is there, but at most ``timeout_s``; tells whether it is. One thread waits at a time."""
        # a flag beside the queue: what came may have been taken by one who was interrupted
        if not self._over:
            with suppress(Empty):
                self._end.get(timeout=timeout_s)
        return self._over

    def finish(self) -> _T:
        """Wait until it is there, as often as it is called; returns it, or raises the error that came instead."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]

    def settle(self, result: _T | None, error: BaseException | None = None) -> None:
        """Hand it over, or the ``error`` that came instead."""
        self._result, self._error = result, error
        self._over = True
        self._end.put(None)


class Background(Pending[_T]):
    """Does ``work`` from now on in a thread of its own; a ``daemon`` does not keep the interpreter from its end."""

    def __init__(self, work: Callable[[], _T], *, daemon: bool = False) -> None:
        super().__init__()
        self._work = work
        # an interruption within Thread.start may leave it waiting for ever
        with held():
            threading.Thread(target=self._run, daemon=daemon).start()

    def _run(self) -> None:
        try:
            result = self._work()
        except BaseException as error:
            self.settle(None, error)
        else:
            self.settle(result)
