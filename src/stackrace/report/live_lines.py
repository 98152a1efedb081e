"""The live view where control characters would only be noise: one plain line per block and per failure."""

from __future__ import annotations

from typing import TextIO

from ..base.text import one_line
from . import figures
from .state import LiveState
from .words.failures import kind, message
from .words.phrases import listed

__all__ = ["Lines"]


class Lines:
    """Writes what is new since the last state."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._block = 0
        self._mishaps = 0
        self._disturbed = False

    def tell(self, state: LiveState) -> None:
        """Write a line for each failure not told yet, and one when a block begins."""
        for mishap in state.mishaps[self._mishaps :]:
            failure = mishap.failure
            self._write(f"block {mishap.block}: {mishap.stack} {kind(failure)}: {message(failure)}")
        self._mishaps = max(self._mishaps, len(state.mishaps))
        if state.disturbance is not None and not self._disturbed:
            self._write(state.action)
        self._disturbed = state.disturbance is not None
        if state.block > self._block:
            self._block = state.block
            self._write(_progress(state))

    def _write(self, text: str) -> None:
        self._stream.write(one_line(text) + "\n")
        self._stream.flush()


def _progress(state: LiveState) -> str:
    words = [state.where]
    if state.slices_planned:
        words.append(f"{state.slices_done} of {state.slices_planned} {state.unit}")
    words.append(f"{figures.duration(state.elapsed_s)} elapsed")
    words += filter(None, [state.answer, state.left])
    if state.leading:
        words.append(state.leading)
    if gone := [stack for stack, block in state.out.items() if block == state.block - 1]:
        words.append(f"{listed(gone)} left the race")
    first = [row.stack for row in state.standing.rows if row.tier == 1] if state.standing else []
    if first:
        more = f" and {len(first) - 1} more" if len(first) > 1 else ""
        words.append(f"provisional first tier: {first[0]}{more}")
    return ", ".join(words)
