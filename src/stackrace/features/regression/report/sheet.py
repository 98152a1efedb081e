"""A check's report: the answer, then each response, then what both sides were and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator

from ....base.verdict import Effect
from ....race.results.comparison import Outcome, State
from ....race.results.race import Race
from ....report.result import standing_of
from ....report.sheet import Block, Column, Item, Listing, Notes, Paragraph, Section, Table, Tone
from ....report.troubles import complaints, setbacks
from ..model import GateAnswer, gate_of
from . import words

__all__ = ["gate_sheet"]

_TONES = {
    Outcome.PASSED: Tone.STRONG,
    Outcome.FAILED: Tone.ALARM,
    Outcome.UNDECIDED: Tone.STRONG,
    Outcome.REFUSED: Tone.ALARM,
}

_STATES = {State.CLEAR: Tone.GOOD, State.SLOWER: Tone.WRONG, State.ALARM: Tone.DOUBTFUL}


def gate_sheet(race: Race, result: GateAnswer) -> Iterator[Section]:
    """Yield the report's sections, in order."""
    yield Section(
        title="",
        blocks=(
            Paragraph(text=words.answer(race, result), tone=_TONES[result.outcome]),
            *(Paragraph(text=text) for text in words.side_notes(gate_of(race))),
            Paragraph(text=words.details(race, result), tone=Tone.ASIDE),
        ),
    )
    yield Section(title="", blocks=(_table(result),))
    if troubles := tuple(_troubles(race)):
        yield Section(title="Refused, failed or warned", blocks=troubles)
    yield Section(title="", blocks=(Notes(texts=(*race.notes, f"Race {race.id}, seed {race.seed}.")),))


def _table(result: GateAnswer) -> Table:
    rows = [words.cells(each) for each in result.rulings]
    tones = tuple(_STATES.get(each.state, Tone.PLAIN) for each in result.rulings)
    last = len(words.HEADER) - 1
    return Table(
        columns=tuple(
            Column(
                title=title,
                cells=tuple(row[place] for row in rows),
                left=place in (0, last),
                tones=tones if place == last else (),
                # on a narrow screen what is not ruled out goes first, as the change's limits say it, too
                keep={5: 1, 4: 2}.get(place, 0),
            )
            for place, title in enumerate(words.HEADER)
        )
    )


def _troubles(race: Race) -> Iterator[Block]:
    """Yield what failed or was refused, with the tails of logs; warnings count where slices were taken."""
    standing = standing_of(race)
    items = [
        Item(
            lead=setback.stack,
            is_code=True,
            tone=Tone.WRONG,
            text=f"{setback.sentence}: {setback.message}",
            log=setback.failure.log,
        )
        for setback in setbacks(race, standing)
    ]
    items += [
        Item(
            lead=each.check,
            tone=Tone.WRONG,
            text=each.headline
            + (f" on {each.where}" if each.where else "")
            + (f" ({each.seen})" if each.seen else ""),
            remedy=each.remedy,
        )
        for each in complaints(race, standing)
        if each.effect is Effect.INVALIDATES
    ]
    if items:
        yield Listing(items=tuple(items))
    if standing.warnings:
        yield Paragraph(text=words.warned(standing.warnings), tone=Tone.ASIDE)
