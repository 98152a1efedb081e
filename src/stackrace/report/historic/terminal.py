"""A rerun in the terminal: how many claims hold, each of them, then and now, and what is missing."""

from __future__ import annotations

from itertools import groupby

from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from ...model.comparison import ClaimOutcome, Rerun, Ruling, TableOutcome
from .. import figures
from ..clean import one_line
from ..terminal import make_console
from ..words import rerun as words

__all__ = ["print_rerun", "report"]

WIDTH = 100
"""Columns at most: a report that is read beside another one."""

COMPLAINTS = 3
"""Of each part, the gravest; the race's own report has them all."""

STYLES = {
    Ruling.HOLDS: "green",
    Ruling.REVERSED: "red",
    Ruling.NOT_SO: "red",
    Ruling.SAME: "cyan",
    Ruling.UNDECIDED: "yellow",
    Ruling.NOT_MEASURED: "dim",
}


def print_rerun(rerun: Rerun, console: Console | None = None) -> None:
    """Print the whole report on ``console`` (default: stdout)."""
    console = console or make_console()
    console.print(report(rerun), width=min(console.width, WIDTH))


def report(rerun: Rerun) -> RenderableType:
    """Return the whole report; it adapts to the width it is printed in."""
    parts: list[RenderableType] = [
        Text(one_line(words.title(rerun.comparison)), style="bold"),
        Text(words.headline(rerun)),
        Text(one_line(words.about(rerun)), style="dim"),
    ]
    for key, claims in groupby(rerun.claims, key=lambda one: one.claim.part):
        parts += [Text(), Text(one_line(rerun.comparison.part(key).title), style="bold"), _claims(list(claims))]
    for table in rerun.tables:
        parts += [Text(), Text(_heading(rerun, table), style="bold"), _then_and_now(table)]
    gone = [one for one in rerun.comparison.techniques.values() if one.gone]
    if gone:
        parts += [Text(), Text("Gone since, and its replacement", style="bold")]
        parts += [Text(one_line(f"{one.title}: {one.gone} {one.instead}")) for one in gone]
    parts += [Text(), *(Text(one_line(line), style="dim") for line in _notes(rerun))]
    return Group(*parts)


def _claims(claims: list[ClaimOutcome]) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    grid.add_column("claim", min_width=18, ratio=3)
    grid.add_column("at", min_width=6, ratio=2)
    grid.add_column("then", no_wrap=True, justify="right")
    grid.add_column("now", min_width=12, ratio=2)
    grid.add_column("", min_width=12, ratio=3)
    before = ""
    for one in claims:
        says = one.claim.says if one.claim.says != before else ""
        before = one.claim.says
        grid.add_row(
            _claim(one, says),
            Text(one_line(words.where(one.claim))),
            Text(words.then(one.claim)),
            Text(one_line(words.now(one))),
            _ruling(one),
        )
    return grid


def _claim(one: ClaimOutcome, says: str) -> Text:
    text = Text(one_line(says))
    basis = words.basis(one.claim)
    if says and basis:
        text.append(f" ({basis})", style="dim")
    return text


def _ruling(one: ClaimOutcome) -> Text:
    text = Text(one.ruling.value, style=STYLES[one.ruling])
    remark = words.remark(one)
    if remark:
        text.append(f": {one_line(remark)}", style="dim")
    return text


def _heading(rerun: Rerun, outcome: TableOutcome) -> str:
    part = f"{rerun.comparison.part(outcome.table.part).title}: " if len(rerun.comparison.parts) > 1 else ""
    return one_line(f"{part}{outcome.table.title}, against the first row, then → now")


def _then_and_now(outcome: TableOutcome) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    grid.add_column("")
    for level in outcome.table.levels:
        grid.add_column(f"c={level}", no_wrap=True, justify="right")
    for row, then, now in zip(outcome.table.rows, outcome.then, outcome.now, strict=True):
        cells = (f"{_ratio(one)} → {_ratio(other)}" for one, other in zip(then, now, strict=True))
        grid.add_row(Text(one_line(row.title)), *cells)
    return grid


def _ratio(value: float | None) -> str:
    return figures.NOTHING if value is None else figures.number(value)


def _notes(rerun: Rerun) -> list[str]:
    lines = [words.limits_note(rerun), rerun.comparison.lost]
    for one in rerun.parts:
        lines += [
            words.part_sentence(rerun, one, full=False),
            rerun.comparison.part(one.part).deviations,
            *one.left_out,
            *one.complaints[:COMPLAINTS],
        ]
    return [line for line in (*lines, *rerun.notes) if line]
