"""A check as a kind of result: the answer and the two sides, then each response, then failures and warnings.

In its JSON document, the name of a member has the unit, or the unit is that of the response: requests per second,
seconds, bytes, a share of requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal

from ...base.codec import FLAT, LEFT_OUT, Form, readable, schema_text
from ...base.numbers import Interval
from ...base.verdict import Effect
from ...measure.load import Load
from ...race.results.comparison import Comparison, Outcome, State
from ...race.results.race import Race
from ...report.exporter import Format, Kind, written
from ...report.markdown import escape
from ...report.merged_standing import standing_of
from ...report.sheet import Block, Column, Listing, Medium, Notes, Paragraph, Section, Table, Tone
from ...report.troubles import complaints, setbacks
from ...stacks.stack import without_side
from . import words
from .model import Contender, GateAnswer, GateFacts, gate_of
from .ruling import gate_answer

_SIGNS = {Outcome.PASSED: "✅", Outcome.FAILED: "❌", Outcome.UNDECIDED: "❔", Outcome.REFUSED: "⚠️"}

_STATES = {State.CLEAR: Tone.GOOD, State.SLOWER: Tone.WRONG, State.ALARM: Tone.DOUBTFUL}


def _sections(race: Race) -> Iterator[Section]:
    result = gate_answer(race)
    yield Section(
        title="",
        blocks=(
            Paragraph(text=words.answer(race, result), tone=Tone.ALARM if result.is_bad else Tone.STRONG),
            *(Paragraph(text=text) for text in words.side_notes(gate_of(race))),
            Paragraph(text=words.details(race, result), tone=Tone.ASIDE),
        ),
    )
    yield Section(title="", blocks=(_table(result),))
    if troubles := tuple(_troubles(race)):
        yield Section(title="Refused, failed or warned", blocks=troubles)
    yield Section(title="", blocks=(Notes(texts=(*race.notes, f"Race {race.id}, seed {race.seed}.")),))


def _so_far(race: Race) -> Iterator[Section]:
    result = gate_answer(race)
    texts = list(words.side_notes(gate_of(race)))
    if result.failed.head or result.failed.base:
        texts.append(f"Failed launches: {words.failed(race, result)}.")
    yield Section(title="", blocks=tuple(Paragraph(text=text) for text in texts))
    yield Section(title="Head against base so far", blocks=(_table(result),))


def _table(result: GateAnswer) -> Table:
    rows = [words.cells(each) for each in result.rulings]
    tones = tuple(_STATES.get(each.state, Tone.PLAIN) for each in result.rulings)
    last = len(words.HEADER) - 1
    name, *others = (
        Column(
            title=title,
            cells=tuple(row[place] for row in rows),
            left=place in (0, last),
            tones=tones if place == last else (),
            # a narrow screen drops "not ruled out" first: the limits of the change show it, too
            keep={5: 1, 4: 2}.get(place, 0),
        )
        for place, title in enumerate(words.HEADER)
    )
    changes = (each.change for each in result.rulings)
    drawn = Column(
        title="worse is to the right", tones=tones, media=(Medium.PAGE,),
        cells=tuple(map(words.change, result.rulings)),
        intervals=tuple(
            None if each is None else Interval(value=each.value, low=each.low, high=each.high) for each in changes
        ),
    )  # fmt: skip
    return Table(columns=(name, drawn, *others))


def _troubles(race: Race) -> Iterator[Block]:
    standing = standing_of(race)
    graver = (each for each in complaints(race, standing) if each.effect is Effect.INVALIDATES)
    # a check ranks nothing, so a failure never takes a side out of the standing
    failed = (replace(each, withdrawn=False).item for each in setbacks(race, standing))
    if items := (*failed, *(each.item for each in graver)):
        yield Listing(items=items)
    if standing.warnings:
        yield Paragraph(text=words.warned(standing.warnings), tone=Tone.ASIDE)


def _first_line(race: Race) -> str:
    outcome, upgraded = gate_answer(race).outcome, "".join(f", {each}" for each in gate_of(race).upgraded)
    return f"### {_SIGNS[outcome]} Stackrace check of {escape(race.app)}{escape(upgraded)}: {outcome.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckWords:
    """The answer in sentences."""

    answer: str
    rulings: tuple[str, ...]
    """A line for each ruling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDocument:
    """Result of a check: is the head slower than the base? Unknown values are null.

    Changes are shares of worse: 0.05 is 5 % slower, larger or longer, of errors 5 percentage points more.
    """

    format: Literal["stackrace-check"] = "stackrace-check"
    """Tells this document from others."""
    version: Literal[1] = 1
    """Version of the format."""
    result: GateAnswer
    words: CheckWords
    facts: GateFacts
    race: Race
    """The race that it rests on."""


_OF_RACE = {
    "id", "started_at", "version", "app", "loads", "urls", "budget_s", "elapsed_s", "ending", "seed", "notes",
}  # fmt: skip

_FORM = Form(
    record=CheckDocument,
    name="check-1",
    names={
        CheckDocument: {"result": FLAT, "facts": FLAT},
        GateAnswer: {"blocks": "pairs", "valid": LEFT_OUT, "failed": "failed_launches", "exit_code": "exit_code"},
        GateFacts: {"allowances": LEFT_OUT},
        Race: {
            **dict.fromkeys({each.name for each in fields(Race)} - _OF_RACE, LEFT_OUT),
            "version": "stackrace_version",
        },
        Load: {"seed": LEFT_OUT},
    },
)

schema = partial(schema_text, _FORM)


def _document(race: Race) -> dict[str, Any]:
    result = gate_answer(race)
    rulings = tuple(" ".join(words.cells(each)) for each in result.rulings)
    made = CheckDocument(
        result=result,
        words=CheckWords(answer=words.answer(race, result), rulings=rulings),
        facts=gate_of(race),
        race=race,
    )
    return readable(made, _FORM)


def _compared(race: Race) -> Comparison:
    facts, answer = gate_of(race), gate_answer(race)
    changes = {ruling.response: words.change(ruling) for ruling in reversed(answer.rulings)}
    return Comparison(
        base=_named(facts.base),
        head=_named(facts.head),
        stack=facts.head.stack or without_side(race.stacks[-1]),
        outcome=answer.outcome,
        rulings=answer.rulings,
        changes=changes,
    )


def _named(side: Contender) -> str:
    if not side.revision:
        return side.label
    commit = side.revision[:7] + "+" * bool(side.changed)
    return side.label if commit in side.label else f"{side.label} {commit}"


KIND = Kind(sections=_sections, document=_document, first_line=_first_line, compared=_compared, so_far=_so_far)


def rendered(race: Race, form: str) -> str:
    """Return the report of a check for the option ``form``: junit, openmetrics, json, markdown or html."""
    from .ci import junit, openmetrics

    of_ci = {"junit": junit, "openmetrics": openmetrics}
    return of_ci[form](race) if form in of_ci else written(KIND, race, Format[form.upper()])
