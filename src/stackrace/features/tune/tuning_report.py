"""A tuning as a kind of result: its sections, its JSON document and its page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ...base.codec import Form, readable, schema_text
from ...base.numbers import NOTHING, count, number
from ...base.units import SIZE
from ...race.results.race import Ending, Race
from ...report.exporter import Kind
from ...report.sheet import FILES, Column, Drawing, Item, Listing, Medium, Notes, Paragraph, Section, Table, Tone
from ...report.words.race_words import versions
from . import words
from .model import Reference, Tuning, tuning_of
from .picture import LEGEND, block_lines, facets
from .tuning_result import Responded, Tuned, leading, tuned

_SHOWN = 10
_SHOWN_SO_FAR = 5


def _sections(race: Race, found: Tuned) -> Iterator[Section]:
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
    if why := tuple(Item(text=text) for text in words.reasons(race, found)):
        yield Section(title="What to know", blocks=(Listing(items=why),))
    many = len(found.responses)
    heading = f"The best {_SHOWN} of {many} configurations" if many > _SHOWN else "All configurations"
    yield Section(title=heading, blocks=(_best(tuning, found.responses[:_SHOWN]),))
    yield Section(
        title="", blocks=(Notes(texts=(versions(race), *race.notes, f"Race {race.id}, seed {race.seed}.")),)
    )
    if panels := facets(tuning, found):
        lines = tuple(line for panel in panels for line in block_lines(panel))
        yield Section(
            title="The response",
            blocks=(
                Drawing(lines=lines, media=(Medium.SCREEN,)),
                Notes(texts=(LEGEND,), media=(Medium.SCREEN,)),
                Drawing(lines=(*lines, LEGEND), media=FILES),
            ),
        )
    line = words.race_file_line(found.stack)
    hint = (f"Race it: stackrace run --stack {shlex.quote(found.stack)}", f"In a race file: {line}")
    yield Section(
        title="",
        blocks=(
            Drawing(lines=hint, media=(Medium.SCREEN,)),
            Paragraph(text="In a race file:", media=FILES),
            Drawing(lines=(line,), media=FILES),
        ),
    )


def _so_far(race: Race) -> Iterator[Section]:
    if line := leading(race):
        rows = tuned(race).responses[:_SHOWN_SO_FAR]
        blocks = Paragraph(text=f"{line}."), _best(tuning_of(race), rows, compared=False)
        yield Section(title="The best so far", blocks=blocks)


def _against(tuning: Tuning, found: Tuned) -> Table:
    rows = found.against
    names = tuple(words.REFERENCES[one.reference] for one in rows)
    formula = tuple(tuning.formula if one.reference is Reference.FORMULA else "" for one in rows)
    return Table(
        columns=(
            Column(title="stack", cells=tuple(one.stack for one in rows), left=True, fold_to=40),
            Column(title="", cells=names, left=True, notes=formula),
            Column(
                title=f"{tuning.goal.title}, tuned ÷ this, 95 %",
                cells=tuple(words.against(tuning.goal, one) for one in rows),
            ),
        )
    )


def _best(tuning: Tuning, rows: tuple[Responded, ...], *, compared: bool = True) -> Table:
    needs = [one.needs for one in rows]
    memory = tuple(NOTHING if one is None else SIZE.format(one.memory_bytes) for one in needs)
    connections = tuple(count(one.connections) if one and one.connections else "" for one in needs)
    against = Column(title="vs tuned", cells=tuple(number(one.relative) for one in rows), keep=4)
    return Table(
        columns=(
            Column(title="configuration", cells=tuple(one.stack for one in rows), left=True, fold_to=48),
            Column(title=tuning.goal.title, cells=tuple(tuning.goal.figure(one.value) for one in rows)),
            *([against] if compared else []),
            Column(title="launches", cells=tuple(count(one.launches) for one in rows), keep=1),
            Column(title="memory", cells=memory, keep=3),
            Column(title="connections", cells=connections, keep=2),
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneWords:
    """The answer and its reasons in sentences."""

    answer: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneDocument:
    """Result of a tuning race, as `stackrace tune --json` prints it.

    Times are seconds, sizes bytes; unknown values are null.
    """

    schema: Literal["tune-1"] = "tune-1"
    """Name and version of this format."""
    race: str
    """The race's id."""
    app: str
    """The app's name."""
    ending: Ending | None
    """Reason why the race ended; null while it runs."""
    elapsed_s: float
    """Duration of the race, in seconds."""
    launches: int
    """Launches made."""
    difference: float
    """The difference that does not matter, 0.05 for 5 %."""
    cores: tuple[int, ...]
    """The cores that each configuration could use."""
    seed: int
    """The seed of everything that was shuffled or proposed."""
    asked: Tuning | None
    """The requested tuning."""
    found: Tuned
    """The answer."""
    race_file: str | None
    """Line for a race file that races the tuned stack; null without one."""
    words: TuneWords
    notes: tuple[str, ...]
    """Sentences to be read with the result."""


_FORM = Form(record=TuneDocument, name="tune-1")

schema = partial(schema_text, _FORM)


def _document(race: Race) -> dict[str, Any]:
    found = tuned(race)
    return readable(
        TuneDocument(
            race=race.id,
            app=race.app,
            ending=race.ending,
            elapsed_s=race.elapsed_s,
            launches=sum(not launch.cut_short for launch in race.launches),
            difference=race.difference,
            cores=race.cores.stack_cores,
            seed=race.seed,
            asked=tuning_of(race),
            found=found,
            race_file=words.race_file_line(found.stack) if found.stack else None,
            words=TuneWords(answer=words.answer(race, found), reasons=tuple(words.reasons(race, found))),
            notes=race.notes,
        ),
        _FORM,
    )


KIND = Kind(sections=lambda race: _sections(race, tuned(race)), document=_document, leading=leading, so_far=_so_far)
