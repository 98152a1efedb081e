"""What is still to be done of blocks that are over: their stacks go down while the next ones start."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["PendingStops"]


class PendingStops:
    """Acts that wait for stacks to be gone. ``stop_s`` is how long the last ones took, None before any did."""

    def __init__(self) -> None:
        self.stop_s: float | None = None
        self._acts: list[Callable[[], None]] = []

    def begin(self, act: Callable[[], None]) -> None:
        """Let ``act`` wait for stacks that were just told to stop, and close their books."""
        self._acts.append(act)

    def then(self, act: Callable[[], None]) -> None:
        """Act once all stacks are gone: at once if none is on its way."""
        if self._acts:
            self._acts.append(act)
        else:
            act()

    def finish(self) -> None:
        """Wait for all, before anything is measured; an interrupted call can be repeated."""
        while self._acts:
            self._acts[0]()
            del self._acts[0]
