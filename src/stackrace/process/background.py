"""Work in a thread of its own, which Ctrl-C can neither lose nor hang."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from .held_signals import held

__all__ = ["Background"]

_T = TypeVar("_T")


class Background(Generic[_T]):
    """Does ``work`` from now on. Whoever waits for it may be interrupted at any point, and wait again.

    An interruption within Thread.start, Thread.join or Event.wait may leave one of their locks held, and then the
    thread never ends; SimpleQueue is written in C. A ``daemon`` does not keep the interpreter from its end.
    """

    def __init__(self, work: Callable[[], _T], *, daemon: bool = False) -> None:
        self._work = work
        self._result: _T | None = None
        self._error: BaseException | None = None
        self._over = False
        self._end: SimpleQueue[None] = SimpleQueue()
        with held():
            threading.Thread(target=self._run, daemon=daemon).start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it is over, but at most ``timeout_s``; tells whether it is. One thread waits at a time."""
        # a flag beside the queue: what came may have been taken by one who was interrupted
        if not self._over:
            with suppress(Empty):
                self._end.get(timeout=timeout_s)
        return self._over

    def finish(self) -> _T:
        """Wait until it is over, as often as it is called; returns its result or raises its error."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]

    def _run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:
            self._error = error
        finally:
            self._over = True
            self._end.put(None)
