"""What the live view draws on a terminal."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..model.printable import one_line
from . import figures
from .level_table import level_table
from .state import LiveState, Mishap
from .terminal_table import ScreenTable
from .words.failures import kind, message
from .words.tuning import leading

__all__ = ["screen"]

RECENT = 3
SPARE = 2
"""Lines of the terminal left free, so that the view never scrolls."""


def screen(state: LiveState) -> RenderableType:
    """Return the progress, the action, the latest failures and the provisional standing."""
    parts: list[RenderableType] = [_progress(state), _action(state)]
    parts += [_mishap(mishap) for mishap in state.mishaps[-RECENT:]]
    if state.leading is not None:
        parts += [Text(one_line(leading(state.leading)), no_wrap=True, overflow="ellipsis")]
    if state.standing is not None and state.standing.rows:
        level = state.standing.levels[state.standing.headline]
        parts += [Text(), Text(f"So far, {level.where}:", style="dim"), ScreenTable(level_table(level))]
    return _Cropped(Group(*parts))


class _Cropped:
    """Cuts a renderable to the terminal's height: rows beyond it would scroll the view away."""

    def __init__(self, inside: RenderableType) -> None:
        self._inside = inside

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inside, options, pad=False, new_lines=True)
        for line in lines[: max(4, console.height - SPARE)]:
            yield from line


def _progress(state: LiveState) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    done, planned = state.slices_done, state.slices_planned
    bar = ProgressBar(total=max(1, planned), completed=min(done, planned), width=30)
    left = f" · {state.left}" if state.left else ""
    slices = f"{done}/{planned} {state.unit}" if planned else f"{done} {state.unit}"
    grid.add_row(bar, Text(f"{slices} · {figures.duration(state.elapsed_s)}{left}"))
    return grid


def _action(state: LiveState) -> Text:
    where = f"{state.where}: " if state.where else ""
    line = Text(f"{where}{one_line(state.action)} ", no_wrap=True, overflow="ellipsis")
    return line.append(one_line(state.stack), style="bold")


def _mishap(mishap: Mishap) -> Text:
    line = Text("✗ ", style="red", no_wrap=True, overflow="ellipsis")
    line.append(one_line(mishap.stack), style="bold default")
    failure = mishap.failure
    return line.append(f" {kind(failure)}: {one_line(message(failure))}", style="default")
