"""The report in the terminal: the answer first, then why, the standing, and what went wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..model.race import Race
from ..model.standing import Level, Row, Standing
from . import figures
from .clean import one_line
from .growth import growths
from .terminal_levels import LevelsMatrix, groups
from .terminal_memory import MemoryTable
from .terminal_scaling import scaling_table
from .terminal_table import LevelTable
from .terminal_troubles import troubles
from .words import race_words, scaling, words_of

__all__ = ["make_console", "print_report", "report"]

PIPE_WIDTH = 120
"""Columns when nobody says how wide the other end of a pipe is."""


def make_console(stream: TextIO | None = None, *, width: int | None = None) -> Console:
    """Return a console on ``stream`` (default stdout) that survives characters the stream cannot write.

    Colour follows NO_COLOR and whether ``stream`` is a terminal; COLUMNS sets the width of a pipe.
    """
    out = stream or sys.stdout
    reconfigure = getattr(out, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    if width is None and not out.isatty() and "COLUMNS" not in os.environ:
        width = PIPE_WIDTH
    coloured = out.isatty() and "NO_COLOR" not in os.environ
    return Console(
        file=out, width=width, highlight=False, markup=False, emoji=False,
        color_system="auto" if coloured else None,
    )  # fmt: skip


def print_report(race: Race, standing: Standing, console: Console | None = None) -> None:
    """Print the whole report on ``console`` (default: stdout)."""
    (console or make_console()).print(report(race, standing), soft_wrap=False)


def report(race: Race, standing: Standing) -> RenderableType:
    """Return the whole report; it adapts to the width it is printed in."""
    void = not standing.verdict.valid
    words = words_of(race, standing)
    parts: list[RenderableType] = [Text(one_line(words.answer), style="bold red" if void else "bold")]
    if void:
        parts.append(Text(race_words.VOID, style="red"))
    parts += [Text(one_line(text)) for text in (words.leads, words.reason, words.costs) if text]
    parts.append(Text(one_line(f"{race_words.about(race)}. {race_words.ending(race, standing)}"), style="dim"))
    if words.conditions:
        parts += [Text(), Text(race_words.CONDITIONS, style="bold")]
        parts += [_item(one) for one in words.conditions]
    for level in standing.foremost:
        parts += [Text(), Text(_heading(level), style="bold"), LevelTable(level, void=void)]
    if len(standing.levels) > 1:
        for group in groups(standing.levels):
            name = _told_everywhere(group)
            parts += [
                Text(),
                LevelsMatrix("requests/s", group, _rate, void=void),
                Text(),
                LevelsMatrix(f"{name} ms", group, partial(figures.percentile, name=name), void=void),
            ]
        if not void:
            parts.append(Text("* first tier at that level", style="dim"))
    if curves := scaling.known(standing.scaling):
        parts += [Text(), Text(scaling.TITLE, style="bold"), *scaling_table(curves)]
    if memory := growths(race, standing):
        where = standing.levels[standing.headline].where
        parts += [Text(), Text(f"Memory over time {where}, MiB", style="bold"), MemoryTable(memory)]
    wrong = troubles(race, standing)
    if wrong is not None:
        parts += [Text(), Text("Refused, failed or warned", style="bold"), wrong]
    parts += [Text(), *_notes(race, standing)]
    return Group(*parts)


def _rate(row: Row) -> str:
    return figures.number(row.throughput_per_s.value)


def _heading(level: Level) -> str:
    clean = "" if any(row.errors for row in level.rows) else ", no errors"
    return f"Standing {level.where}, latencies in ms{clean}"


def _told_everywhere(levels: Sequence[Level]) -> str:
    """Return the quantile to show: p99, or p50 where at some level no stack had requests enough for it."""
    told = (any(figures.percentile(row, "p99") != figures.NOTHING for row in level.rows) for level in levels)
    return "p99" if all(told) else "p50"


def _item(text: str) -> RenderableType:
    """Set ``text`` off by a dash, its further lines beneath its first."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_row("-", Text(one_line(text)))
    return table


def _notes(race: Race, standing: Standing) -> list[Text]:
    lines = [*race_words.notes(race, standing), f"Race {race.id}, seed {race.seed}."]
    return [Text(one_line(line), style="dim") for line in lines]
