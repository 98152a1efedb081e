"""What the live view draws on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from ..base.text import one_line
from ..race.results.standing import Row
from . import figures
from .sheet import Column, Table, Tone
from .state import LiveState, Mishap
from .terminal_bar import bar
from .terminal_table import ScreenTable
from .words.failures import kind, message

__all__ = ["screen"]

_RECENT = 3
_PATH = 30
"""A path may be folded to this width before the bars are left out."""
_BAR = 12
_SPARE = 2
"""Lines of the terminal left free, so that the view never scrolls."""


def screen(state: LiveState) -> RenderableType:
    """Return the action, the time, the latest failures and the provisional standing, which is the progress."""
    parts: list[RenderableType] = [_action(state), _time(state)]
    parts += [_mishap(mishap) for mishap in state.mishaps[-_RECENT:]]
    if state.leading:
        parts += [Text(one_line(state.leading), no_wrap=True, overflow="ellipsis")]
    rows = state.standing.rows if state.standing is not None else ()
    if rows or (state.stacks and not state.leading):
        parts += [Text(), _heading(state), ScreenTable(_standing(state, rows))]
    return _Cropped(Group(*parts))


class _Cropped:
    """Cuts a renderable to the terminal's height: rows beyond it would scroll the view away."""

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
    """Return a line for every stack: those measured best first, then those that were not yet."""
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
        Column(title="req/s", keep=1, cells=cells(lambda row: figures.number(row.throughput_per_s.value))),
        Column(title="vs leader, 95 %", keep=2, left=True, cells=cells(lambda row: figures.ratio(row.ratio)),
               notes=cells(lambda row: figures.ratio_limits(row.ratio))),
        Column(title="", keep=3, left=True, cells=cells(lambda row: bar(row.ratio, most, _BAR)), tones=tones),
        Column(title="", left=True, tone=Tone.ASIDE, cells=doing),
    ))  # fmt: skip


def _doing(state: LiveState, stack: str, *, has_row: bool) -> str:
    """Say what a stack does: it races now, it has left, it failed in this block or has no result for that."""
    if stack in state.out:
        return f"left (block {state.out[stack]})"
    if stack == state.stack:
        return f"← {state.activity}"
    failed = [each for each in state.mishaps if each.stack == stack and (each.block == state.block or not has_row)]
    return kind(failed[-1].failure) if failed else ""


def _time(state: LiveState) -> Text:
    done, planned = state.slices_done, state.slices_planned
    slices = f"{done}/{planned} {state.unit}" if planned else f"{done} {state.unit}"
    words = (slices, figures.duration(state.elapsed_s), state.answer, state.left)
    return Text(" · ".join(filter(None, words)), no_wrap=True, overflow="ellipsis")


def _action(state: LiveState) -> Text:
    where = f"{state.where}: " if state.where else ""
    line = Text(f"{where}{one_line(state.action)} ", no_wrap=True, overflow="ellipsis")
    return line.append(one_line(state.stack), style="bold")


def _mishap(mishap: Mishap) -> Text:
    line = Text("✗ ", style="red", no_wrap=True, overflow="ellipsis")
    line.append(one_line(mishap.stack), style="bold default")
    failure = mishap.failure
    return line.append(f" {kind(failure)}: {one_line(message(failure))}", style="default")
