"""The live view of a race: cheap enough to run beside the measurement.

Only :meth:`LiveView.update` draws, at most twice a second, and nothing draws between :meth:`LiveView.pause` and
:meth:`LiveView.resume`. There is no refresh thread, and a paused view costs nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.text import Text

from ..base.numbers import duration, number
from ..base.text import one_line
from ..measure.host import Disturbance
from ..measure.launch import Failure
from ..race.events import Activity
from ..race.results.standing import Row, Standing
from . import figures
from .characters import bar
from .figures import listed
from .sheet import Column, Table, Tone
from .terminal import ScreenTable, make_console
from .words.findings import disturbed, failure_kind, failure_message


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishap:
    """A launch that has just failed."""

    stack: str
    block: int
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """State of a race at one moment.

    ``activity`` is the current activity, ``level`` the measured level (``static, c=20``); ``block`` counts from 1,
    and is 0 before the first. ``eta_s`` is the time left, None if unknown; ``mishaps`` holds all failures so far.
    The ``unit`` of counts is slices or runs; the number of ``blocks`` is known for runs only. A race with a result
    of another kind has a line ``leading`` in place of a ``standing``. ``stacks`` are all that started, ``out``
    those that have left, with the block after which they did. An answer is likely in ``answer_s``, None if unknown.
    """

    activity: Activity
    level: str = ""
    block: int = 0
    slices_done: int = 0
    slices_planned: int = 0
    elapsed_s: float = 0.0
    eta_s: float | None = None
    stack: str = ""
    stacks: tuple[str, ...] = ()
    out: Mapping[str, int] = field(default_factory=dict)
    answer_s: float | None = None
    standing: Standing | None = None
    leading: str = ""
    mishaps: tuple[Mishap, ...] = ()
    unit: str = "slices"
    blocks: int | None = None
    disturbance: Disturbance | None = None

    @property
    def action(self) -> str:
        """Current activity in words: ``warming up``, ``measuring static, c=20``."""
        if self.activity is Activity.CALIBRATING:
            return "calibrating the load engine"
        if self.disturbance is not None:
            return disturbed(self.disturbance)
        return f"{self.activity} {self.level}".rstrip()

    @property
    def left(self) -> str:
        """Time left in words; empty if unknown. Slices may end sooner, the time of runs is only estimated."""
        if self.eta_s is None:
            return ""
        return f"{'at most' if self.blocks is None else 'about'} {duration(self.eta_s)} left"

    @property
    def answer(self) -> str:
        """Time to a likely answer in words; empty if unknown."""
        return "" if self.answer_s is None else f"about {duration(self.answer_s)} to the likely answer"

    @property
    def where(self) -> str:
        """Block in words: ``block 3``, or ``block 3 of 5`` if their number is known; empty before the first."""
        if not self.block:
            return ""
        return f"block {self.block}" + (f" of {self.blocks}" if self.blocks else "")


_SHORTEST_PAUSE_S = 0.5


class LiveView:
    """Display of the latest `LiveState` on ``stream`` (default stderr).

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
        self._lines: _Lines | None = None

    def __enter__(self) -> Self:
        console = make_console(self._stream)
        if console.is_terminal and not console.is_dumb_terminal:
            self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        else:
            self._lines = _Lines(self._stream)
        return self

    def __exit__(self, *_: object) -> None:
        self.resume()
        if self._live is not None:
            self._live.stop()
            self._live = None
        self._lines = None

    def update(self, state: LiveState) -> None:
        """Show ``state`` now, or keep it for the next call if that is too soon or the view is paused."""
        self._held = state
        if self._paused:
            return
        if self._lines is not None:
            self._lines.write_new(state)
            return
        if self._now() - self._drawn_at >= _SHORTEST_PAUSE_S:
            self._draw()

    def pause(self) -> None:
        """Draw the last state, then nothing until :meth:`resume`, while a slice is measured."""
        if self._held is not self._drawn:
            self._draw()
        self._paused = True

    def resume(self) -> None:
        """Go on, and show the state that was kept meanwhile."""
        self._paused = False
        if self._held is not None:
            self.update(self._held)

    def _draw(self) -> None:
        if self._live is None or self._held is None:
            return
        self._drawn_at = self._now()
        self._drawn = self._held
        self._live.update(_screen(self._held), refresh=True)


_RECENT = 3
_PATH = 30
"""Width to which a path may be folded before the bars are left out."""
_BAR = 12
_SPARE = 2
"""Lines of the terminal left free, so that the view never scrolls."""


def _screen(state: LiveState) -> RenderableType:
    parts: list[RenderableType] = [_action(state), _time(state)]
    parts += [_mishap(mishap) for mishap in state.mishaps[-_RECENT:]]
    if state.leading:
        parts += [Text(one_line(state.leading), no_wrap=True, overflow="ellipsis")]
    rows = state.standing.rows if state.standing is not None else ()
    if rows or (state.stacks and not state.leading):
        parts += [Text(), _heading(state), ScreenTable(_standing(state, rows))]
    return _Cropped(Group(*parts))


class _Cropped:
    """Renderable cut to the terminal's height: more rows would scroll the view away."""

    def __init__(self, inside: RenderableType) -> None:
        self._inside = inside

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inside, options, pad=False, new_lines=True)
        for line in lines[: max(4, console.height - _SPARE)]:
            yield from line


def _heading(state: LiveState) -> Text:
    if state.standing is None or not state.standing.levels:
        return Text("No standing yet: it comes once the stacks of the first block have stopped", style="dim")
    level = state.standing.levels[state.standing.headline]
    return Text(f"Provisional standing {level.where}; it may change with each block", style="dim")


def _standing(state: LiveState, rows: Sequence[Row]) -> Table:
    most = max((row.ratio.high or row.ratio.value for row in rows), default=1.0)
    waiting = [stack for stack in state.stacks if all(row.stack != stack for row in rows)]
    stacks = (*(row.stack for row in rows), *waiting)
    blank = ("",) * len(waiting)

    def cells(cell: Callable[[Row], str]) -> tuple[str, ...]:
        return (*map(cell, rows), *blank)

    doing = tuple(_doing(state, stack, has_row=stack not in waiting) for stack in stacks)
    tones = tuple(Tone.GOOD if row.tier == 1 else Tone.OTHER for row in rows) + (Tone.PLAIN,) * len(waiting)
    return Table(columns=(
        Column(title="stack", cells=stacks, left=True, fold_to=_PATH,
               tones=tuple(Tone.ASIDE if stack in state.out else Tone.PLAIN for stack in stacks)),
        Column(title="req/s", keep=1, cells=cells(lambda row: number(row.throughput_per_s.value))),
        Column(title="vs leader, 95 %", keep=2, left=True, cells=cells(lambda row: figures.ratio(row.ratio)),
               notes=cells(lambda row: figures.ratio_limits(row.ratio))),
        Column(title="", keep=3, left=True, cells=cells(lambda row: bar(row.ratio, most, _BAR)), tones=tones),
        Column(title="", left=True, tone=Tone.ASIDE, cells=doing),
    ))  # fmt: skip


def _doing(state: LiveState, stack: str, *, has_row: bool) -> str:
    """Return a stack's state: racing now, left, failed in this block, or without a result because of a failure."""
    if stack in state.out:
        return f"left (block {state.out[stack]})"
    if stack == state.stack:
        return f"← {state.activity}"
    failed = [each for each in state.mishaps if each.stack == stack and (each.block == state.block or not has_row)]
    return failure_kind(failed[-1].failure) if failed else ""


def time_words(state: LiveState) -> str:
    """Return what is done, the time so far, and the time that is left, in one line."""
    done, planned = state.slices_done, state.slices_planned
    slices = f"{done}/{planned} {state.unit}" if planned else f"{done} {state.unit}"
    words = (slices, duration(state.elapsed_s), state.answer, state.left)
    return " · ".join(filter(None, words))


def _time(state: LiveState) -> Text:
    return Text(time_words(state), no_wrap=True, overflow="ellipsis")


def _action(state: LiveState) -> Text:
    where = f"{state.where}: " if state.where else ""
    line = Text(f"{where}{one_line(state.action)} ", no_wrap=True, overflow="ellipsis")
    return line.append(one_line(state.stack), style="bold")


def _mishap(mishap: Mishap) -> Text:
    line = Text("✗ ", style="red", no_wrap=True, overflow="ellipsis")
    line.append(one_line(mishap.stack), style="bold default")
    failure = mishap.failure
    return line.append(f" {failure_kind(failure)}: {one_line(failure_message(failure))}", style="default")


class _Lines:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._block = 0
        self._mishaps = 0
        self._disturbed = False

    def write_new(self, state: LiveState) -> None:
        """Write a line for each new failure, and one when a block starts."""
        for mishap in state.mishaps[self._mishaps :]:
            failure = mishap.failure
            self._write(f"block {mishap.block}: {mishap.stack} {failure_kind(failure)}: {failure_message(failure)}")
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
    words.append(f"{duration(state.elapsed_s)} elapsed")
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
