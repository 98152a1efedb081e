"""One line that tells how far a run is, while it runs."""

from __future__ import annotations

import os
from collections import deque
from typing import TextIO

import click

from ...base.numbers import count, duration, number
from ...measure.load import Load
from ..edge import StatusLine

__all__ = ["ProgressLine", "text"]

_BAR = 24
_RECENT = 5
"""The rate shown is that of the last so many drawings."""


class ProgressLine:
    """Draws itself over and over on a terminal, behind the words ``before``; does nothing elsewhere."""

    def __init__(
        self, load: Load, warmup_s: float, *, quiet: bool, before: str = "", stream: TextIO | None = None
    ) -> None:
        self._load = load
        self._warmup_s = warmup_s
        self._before = before
        self._line = StatusLine(stream, quiet=quiet)
        self._coloured = "NO_COLOR" not in os.environ
        self._seen: deque[tuple[float, int]] = deque([(warmup_s, 0)], maxlen=_RECENT)
        self.clear = self._line.clear

    def draw(self, ok: int, errors: int, elapsed_s: float) -> None:
        """Show the run as it is ``elapsed_s`` seconds after its start, warm-up included."""
        if not self._line.changes:
            return
        rate_per_s = self._rate_per_s(ok, elapsed_s)
        line = self._before + text(self._load, self._warmup_s, ok, errors, elapsed_s, rate_per_s)
        self._line.show(click.style(line, fg="red") if errors and self._coloured else line)

    def calibrating(self) -> None:
        """Show what happens before the run."""
        self._line.show("measuring what the engine itself can do here …")

    def connecting(self, opened: int, connections: int) -> None:
        """Show how many connections are open before the run."""
        self._line.show(f"{self._before}connecting: {count(opened)} of {count(connections)} are open")

    def _rate_per_s(self, ok: int, elapsed_s: float) -> float:
        if elapsed_s <= self._warmup_s:
            return 0.0
        self._seen.append((elapsed_s, ok))
        (first_s, first), (last_s, last) = self._seen[0], self._seen[-1]
        return (last - first) / (last_s - first_s) if last_s > first_s else 0.0


def text(load: Load, warmup_s: float, ok: int, errors: int, elapsed_s: float, rate_per_s: float) -> str:
    """Return the line: a bar, the share done, the rate, errors, and the time left."""
    if elapsed_s < warmup_s:
        return f"warming up, {_left(warmup_s - elapsed_s)}"
    run_s = elapsed_s - warmup_s
    if load.duration_s is not None:
        done, left_s = run_s / load.duration_s, load.duration_s - run_s
    else:
        planned = load.requests or 1
        done = (ok + errors) / planned
        left_s = _left_s(load, planned - ok - errors, run_s, rate_per_s)
    done = min(max(done, 0.0), 1.0)
    filled = round(_BAR * done)
    parts = [f"{'━' * filled}{'─' * (_BAR - filled)} {done:4.0%}", f"{number(rate_per_s)}/s"]
    if errors:
        parts.append(f"{count(errors)} error{'s' if errors > 1 else ''}")
    parts.append(_left(left_s) if left_s < float("inf") else "waiting for answers")
    return "  ".join(parts)


def _left(seconds: float) -> str:
    return f"{duration(round(max(seconds, 0.0), 1))} left"


def _left_s(load: Load, missing: int, run_s: float, rate_per_s: float) -> float:
    """An open loop takes the time its rate says; a closed one goes on as it went lately."""
    if load.rate_per_s is not None and load.requests is not None:
        return load.requests / load.rate_per_s - run_s
    return missing / rate_per_s if rate_per_s > 0 else float("inf")
