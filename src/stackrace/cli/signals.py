"""Signals that end a verb as Ctrl-C does."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["stoppable"]


@contextmanager
def stoppable() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C while a race runs, so that they, too, keep what was measured."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
