"""A run of engines on other machines, as the machine of the stack sees it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Self

from ...base.errors import BreakdownError
from ...measure.load import LoadResult

__all__ = ["Away"]

ARRIVES_S = 60.0
"""How long after its end a result is waited for."""


class Away:
    """Begins when the engines were told to, and is over once their merged result is delivered.

    It is an ``EngineRun``. The coordinator tells everybody the same instant, each by his own clock.
    """

    def __init__(self, begun_s: float) -> None:
        self.begun_s = begun_s
        self._over = threading.Event()
        self._result: LoadResult | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def deliver(self, result: LoadResult | None) -> None:
        """End it with what the engines saw; None: they were lost."""
        self._result = result
        self._over.set()

    def wait(self, until_s: float) -> bool:
        """Wait until ``until_s`` on CLOCK_MONOTONIC or the end; tells whether it has ended."""
        return self._over.wait(min(max(until_s - time.monotonic(), 0.0), threading.TIMEOUT_MAX))

    def bins(self, bin_s: float) -> Iterator[Sequence[int]]:
        """Yield nothing: who warms up from other machines looks at them."""
        return iter(())

    def finish(self, until_s: float = float("inf")) -> LoadResult:
        """Return the result that was delivered. Raises BreakdownError where none comes."""
        if not self._over.wait(ARRIVES_S) or self._result is None:
            raise BreakdownError("the engines on other machines were lost, and their result with them")
        return self._result
