"""The live view of a race: cheap enough to run beside the measurement.

Nothing is drawn but from inside :meth:`LiveView.update`, at most twice a second, and nothing at all between
:meth:`LiveView.pause` and :meth:`LiveView.resume`: there is no refresh thread, a paused view costs nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Self, TextIO

from rich.live import Live

from .live_lines import Lines
from .live_screen import screen
from .state import LiveState
from .terminal import make_console

__all__ = ["LiveView"]

_SHORTEST_PAUSE_S = 0.5
"""Between two drawings."""


class LiveView:
    """Shows the latest :class:`~stackrace.report.LiveState` on ``stream`` (default stderr).

    On a terminal the view redraws itself and vanishes at the end; otherwise each event is a plain line.
    """

    def __init__(self, stream: TextIO | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream or sys.stderr
        self._now = now
        self._drawn_at = float("-inf")
        self._paused = False
        self._held: LiveState | None = None
        self._drawn: LiveState | None = None
        self._live: Live | None = None
        self._lines: Lines | None = None

    def __enter__(self) -> Self:
        console = make_console(self._stream)
        if console.is_terminal and not console.is_dumb_terminal:
            self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        else:
            self._lines = Lines(self._stream)
        return self

    def __exit__(self, *_: object) -> None:
        self.resume()
        if self._live is not None:
            self._live.stop()
            self._live = None
        self._lines = None

    def update(self, state: LiveState) -> None:
        """Show ``state`` now, or keep it for the next call when that is too soon or the view is paused."""
        self._held = state
        if self._paused:
            return
        if self._lines is not None:
            self._lines.tell(state)
            return
        if self._now() - self._drawn_at >= _SHORTEST_PAUSE_S:
            self._draw()

    def pause(self) -> None:
        """Draw what was held back, then nothing until :meth:`resume`: a slice is being measured."""
        if self._held is not self._drawn:
            self._draw()
        self._paused = True

    def resume(self) -> None:
        """Go on, and show what was held back meanwhile."""
        self._paused = False
        if self._held is not None:
            self.update(self._held)

    def _draw(self) -> None:
        if self._live is None or self._held is None:
            return
        self._drawn_at = self._now()
        self._drawn = self._held
        self._live.update(screen(self._held), refresh=True)
