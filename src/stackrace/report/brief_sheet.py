"""A race's report on one screen: at most 32 lines of 100 columns for seven stacks; the whole one has all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..race.notices import headline, news, shortly
from ..race.results.race import Race
from ..race.results.standing import Standing
from .level_table import level_table
from .paths import renamed, short_names
from .sheet import Item, Listing, Paragraph, Section, Table, Tone
from .troubles import causes
from .words import race_words
from .words.answer import answer
from .words.race_words import debug, raced
from .words.standing import costs, elsewhere, machines

__all__ = ["brief_sheet"]

_MOST_CAUSES = 3
_PATH = 44
"""On one screen columns are left out before a path is folded to less than this."""


def brief_sheet(race: Race, standing: Standing) -> Iterator[Section]:
    """Yield the sections: the answer and what belongs to it, the standing, its costs, what was refused."""
    names = short_names(race)
    called = renamed(race, standing, names)
    yield Section(title="", blocks=tuple(_top(race, *called)))
    if standing.levels:
        level = standing.levels[standing.headline]
        table = level_table(level, void=not standing.verdict.valid, current=race.current, mark="yours")
        yield Section(title=race_words.heading(level), blocks=(_narrow(table),))
    if rest := tuple(_rest(*called)):
        yield Section(title="", blocks=rest)
    if found := causes(race, standing, names):
        listing = Listing(items=tuple(_first(found, alone=not standing.levels)))
        yield Section(title="", blocks=(listing, *_more(len(found) - _MOST_CAUSES)))


def _top(race: Race, short_race: Race, standing: Standing) -> Iterator[Paragraph]:
    """Yield the answer and, directly below it, what a reader must know to use it."""
    valid = standing.verdict.valid
    if first := news(standing.current):
        yield Paragraph(text=first, tone=Tone.ALARM, lines=2)
    usual = 1 if first or race.altered else 2
    yield Paragraph(text=answer(short_race, standing), tone=Tone.STRONG if valid else Tone.ALARM, lines=2)
    if not valid:
        yield Paragraph(text=race_words.VOID, tone=Tone.WRONG, lines=1)
    if race.altered:
        yield Paragraph(text=race.altered, tone=Tone.ALARM, lines=2)
    if debugging := debug(race):
        yield Paragraph(text=debugging, tone=Tone.DOUBTFUL, lines=1)
    yield Paragraph(text=raced(race), lines=1 if race.altered else 2)
    if valid and (yours := headline(standing.current)):
        yield Paragraph(text=yours, tone=Tone.STRONG, lines=usual)
    if read := shortly(race):
        yield Paragraph(text=read, lines=usual)


def _rest(race: Race, standing: Standing) -> Iterator[Paragraph]:
    if not standing.verdict.valid:
        return
    compared = machines(standing.machines)
    if others := elsewhere(standing, race):
        yield Paragraph(text=others, lines=1 if compared or race.altered else 2)
    if needs := costs(standing.costs, short=True):
        yield Paragraph(text=needs, lines=1)
    if compared:
        yield Paragraph(text=compared, lines=1)


def _first(found: Sequence[Item], *, alone: bool) -> Iterator[Item]:
    """Yield the gravest causes, a line each; ``alone``, where nothing was measured, they have the table's room."""
    for place, item in enumerate(found[:_MOST_CAUSES]):
        yield replace(item, lines=3 if alone else 1, log=item.log if alone and not place else "")


def _more(number: int) -> Iterator[Paragraph]:
    if number > 0:
        yield Paragraph(text=f"and {number} more: --details", tone=Tone.ASIDE, lines=1)


def _narrow(table: Table) -> Table:
    """Return ``table`` where paths are worth more than columns."""
    columns = (replace(column, fold_to=_PATH) if column.fold_to else column for column in table.columns)
    return replace(table, columns=tuple(columns))
