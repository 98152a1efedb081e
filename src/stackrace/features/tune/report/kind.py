"""A tuning as a kind of result: the answer, with what it is compared, why, and the best configurations."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from ....base.numbers import NOTHING, count, number
from ....base.units import SIZE
from ....race.results.race import Race
from ....report.exporter import Kind
from ....report.sheet import Block, Column, Drawing, Item, Listing, Medium, Notes, Paragraph, Section, Table, Tone
from ..model import Tuning, tuning_of
from ..result import Responded, Tuned, tuned
from ..result import leading as leading_now
from . import words
from .picture import LEGEND, block_lines, facets

_SHOWN = 10
"""So many configurations are listed on a screen."""


def tuning_sheet(race: Race, found: Tuned) -> Iterator[Section]:
    """Yield the sections, in order: the answer, with what it is compared, why, and the best configurations."""
    tuning = tuning_of(race)
    yield Section(
        title="",
        blocks=(
            Paragraph(text=words.answer(race, found), tone=Tone.STRONG),
            Paragraph(text=words.ending(race, found), tone=Tone.ASIDE),
        ),
    )
    if not found.stack:
        yield Section(title="", blocks=(Notes(texts=race.notes),))
        return
    yield Section(title="Tuned, compared with", blocks=(_against(tuning, found),))
    if why := tuple(words.reasons(race, found)):
        yield Section(title="What to know", blocks=(Listing(items=tuple(Item(text=text) for text in why)),))
    if found.responses:
        yield Section(title=_heading(found), blocks=(_best(tuning, found),))
    notes = (*race.notes, f"Race {race.id}, seed {race.seed}.")
    yield Section(title="", blocks=(Notes(texts=notes),))
    if found.responses and (panels := facets(tuning, found)):
        lines = tuple(line for panel in panels for line in block_lines(panel))
        yield Section(
            title="The response",
            blocks=(
                Drawing(lines=lines, media=(Medium.SCREEN,)),
                Notes(texts=(LEGEND,), media=(Medium.SCREEN,)),
                Drawing(lines=(*lines, LEGEND), media=(Medium.TEXT,)),
            ),
        )
    yield Section(title="", blocks=tuple(_again(found.stack)))


def _again(stack: str) -> Iterator[Block]:
    """Yield how the tuned stack is raced again."""
    line = words.race_file_line(stack)
    lines = (f"Race it: stackrace run --stack {shlex.quote(stack)}", f"In a race file: {line}")
    yield Drawing(lines=lines, media=(Medium.SCREEN,))
    yield Paragraph(text="In a race file:", media=(Medium.TEXT,))
    yield Drawing(lines=(line,), media=(Medium.TEXT,))


def _against(tuning: Tuning, found: Tuned) -> Table:
    names = [words.REFERENCES[one.reference] for one in found.against]
    formula = [tuning.formula if one.reference == "formula" else "" for one in found.against]
    return Table(
        columns=(
            Column(title="stack", cells=tuple(one.stack for one in found.against), left=True, fold_to=40),
            Column(title="", cells=tuple(names), left=True, notes=tuple(formula)),
            Column(
                title=f"{words.response_title(tuning.goal)}, tuned ÷ this, 95 %",
                cells=tuple(words.against(tuning.goal, one) for one in found.against),
            ),
        )
    )


def _heading(found: Tuned) -> str:
    many = len(found.responses)
    return f"The best {_SHOWN} of {many} configurations" if many > _SHOWN else "All configurations"


def _best(tuning: Tuning, found: Tuned) -> Table:
    listed = found.responses[:_SHOWN]
    return Table(
        columns=(
            Column(title="configuration", cells=tuple(one.stack for one in listed), left=True, fold_to=48),
            Column(
                title=words.response_title(tuning.goal),
                cells=tuple(words.figure(tuning.goal, one.value) for one in listed),
            ),
            Column(title="vs tuned", cells=tuple(number(one.relative) for one in listed), keep=4),
            Column(title="launches", cells=tuple(count(one.launches) for one in listed), keep=1),
            Column(title="memory", cells=tuple(map(_memory, listed)), keep=3),
            Column(title="connections", cells=tuple(map(_connections, listed)), keep=2),
        ),
        media=(Medium.SCREEN, Medium.TEXT, Medium.PAGE),
    )


def _memory(one: Responded) -> str:
    return NOTHING if one.needs is None else SIZE.format(one.needs.memory_bytes)


def _connections(one: Responded) -> str:
    return "" if one.needs is None or not one.needs.connections else count(one.needs.connections)


def _sections(race: Race) -> Iterable[Section]:
    return tuning_sheet(race, tuned(race))


def _document(race: Race) -> dict[str, Any]:
    from .document import document

    return document(race, tuned(race))


def _page(race: Race) -> str:
    from .page import page

    found = tuned(race)
    return page(race, found, tuning_sheet(race, found))


def _leading(race: Race) -> str:
    """Return how the search stands: ``gunicorn:workers=3 leads, 5 of 36 configurations left``."""
    stands = leading_now(race)
    return "" if stands is None else words.leading(stands)


KIND = Kind(sections=_sections, document=_document, page=_page, leading=_leading)
