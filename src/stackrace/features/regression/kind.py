"""A check as a kind of result: the answer, then each response, then what both sides were and what went wrong.

In its JSON document units are in the names or those of the response: requests per second, seconds, bytes, a share
of requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup

from ...base.codec import FLAT, LEFT_OUT, Form, readable
from ...base.numbers import percent
from ...base.verdict import Effect
from ...measure.load import Load
from ...race.results.comparison import Comparison, Outcome, Ruling, State
from ...race.results.race import Race
from ...report.exporter import Format, Kind, written
from ...report.html.svg import caption, extent, tag, text
from ...report.markdown import escape
from ...report.result import standing_of
from ...report.sheet import Block, Column, Item, Listing, Notes, Paragraph, Section, Table, Tone
from ...report.troubles import complaints, setbacks
from ...stacks.stack import without_side
from . import words
from .answer import gate_answer
from .model import Contender, GateAnswer, GateFacts, gate_of

_SIGNS = {Outcome.PASSED: "✅", Outcome.FAILED: "❌", Outcome.UNDECIDED: "❔", Outcome.REFUSED: "⚠️"}

_STATES = {State.CLEAR: Tone.GOOD, State.SLOWER: Tone.WRONG, State.ALARM: Tone.DOUBTFUL}


def _sections(race: Race) -> Iterator[Section]:
    """Yield the report's sections, in order."""
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
        Item(lead=each.stack, is_code=True, tone=Tone.WRONG, log=each.failure.log,
             text=f"{each.sentence}: {each.message}")
        for each in setbacks(race, standing)
    ]  # fmt: skip
    for each in complaints(race, standing):
        if each.effect is Effect.INVALIDATES:
            where, seen = each.where and f" on {each.where}", each.seen and f" ({each.seen})"
            text = f"{each.headline}{where}{seen}"
            items.append(Item(lead=each.check, tone=Tone.WRONG, text=text, remedy=each.remedy))
    if items:
        yield Listing(items=tuple(items))
    if standing.warnings:
        yield Paragraph(text=words.warned(standing.warnings), tone=Tone.ASIDE)


def _first_line(race: Race) -> str:
    outcome = gate_answer(race).outcome
    return f"### {_SIGNS[outcome]} Stackrace check of {escape(race.app)}: {outcome.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckWords:
    """The answer in sentences."""

    answer: str
    rulings: tuple[str, ...]
    """A line for each ruling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDocument:
    """Whether head is slower than base. What is not known is null.

    Changes are shares of worse: 0.05 is 5 % slower, larger or longer, of errors 5 percentage points more.
    """

    format: Literal["stackrace-check"] = "stackrace-check"
    """Tells this document from others."""
    version: Literal[1] = 1
    """Version of the format."""
    result: GateAnswer
    exit_code: int
    """What the command ended with: 0, 1 or 3."""
    words: CheckWords
    facts: GateFacts
    race: Race
    """The race that it rests on."""


_OF_RACE = {
    "id", "started_at", "version", "app", "loads", "urls", "budget_s", "elapsed_s", "ending", "seed", "notes",
}  # fmt: skip

_FORM = Form(
    names={
        CheckDocument: {"result": FLAT, "facts": FLAT},
        GateAnswer: {"blocks": "pairs", "valid": LEFT_OUT, "failed": "failed_launches"},
        GateFacts: {"allowances": LEFT_OUT},
        Race: {
            **dict.fromkeys({each.name for each in fields(Race)} - _OF_RACE, LEFT_OUT),
            "version": "stackrace_version",
        },
        Load: {"seed": LEFT_OUT},
    },
)


def schema() -> str:
    """Return the JSON Schema of ``document``."""
    from ...base.json_schema import json_schema

    return json_schema(CheckDocument, _FORM, "check-1")


def _document(race: Race) -> dict[str, Any]:
    """Return the document of the check ``race`` as plain JSON values."""
    result = gate_answer(race)
    rulings = tuple(" ".join(words.cells(each)) for each in result.rulings)
    made = CheckDocument(
        result=result,
        exit_code=result.exit_code,
        words=CheckWords(answer=words.answer(race, result), rulings=rulings),
        facts=gate_of(race),
        race=race,
    )
    return readable(made, _FORM)


def _page(race: Race) -> str:
    """Return the whole page of the check ``race``."""
    result = gate_answer(race)
    reach = _reach_of(result.rulings)
    standing = standing_of(race)
    from ...report.html.page import draw_page

    return draw_page(
        "check.html.j2", Path(__file__).parent,
        race=race, result=result, answer=words.answer(race, result),
        bad=result.is_bad,
        sides=words.side_notes(gate_of(race)), details=words.details(race, result),
        rows=[(each, words.cells(each), Markup(_ruling_drawing(each, reach))) for each in result.rulings],
        axis=Markup(_axis_drawing(reach)), header=words.HEADER,
        setbacks=setbacks(race, standing), complaints=complaints(race, standing),
    )  # fmt: skip


_REACHES = (0.04, 0.1, 0.2, 0.4)
"""Limits that lie farther out are cut."""

_CLASSES = {State.CLEAR: "holds", State.SLOWER: "reversed"}
"""Of the style sheet; of all others it is ``undecided``."""


def _reach_of(rulings: Sequence[Ruling]) -> float:
    """Return how far the axis reaches to either side, as a share."""
    known = [
        abs(limit) for each in rulings if each.change for limit in (each.change.low, each.change.high) if limit
    ]
    return next((reach for reach in _REACHES if reach >= max(known, default=0.0)), _REACHES[-1])


def _ruling_drawing(each: Ruling, reach: float) -> str:
    """Return one row: what is allowed shaded, the change with its limits."""
    edge = _at(each.terms.allowance, reach)
    parts = [
        caption(f"{words.name(each)}: {words.change(each)}, allowed {words.allowed(each)}; {words.ruling(each)}"),
        tag("rect", x="0%", width=extent(edge), y="12%", height="76%", class_="claimed"),
        tag("line", x1="50%", x2="50%", y1="0", y2="100%", class_="zero"),
    ]
    if each.change is not None:
        style = _CLASSES.get(each.state, "undecided")
        if each.change.low is not None and each.change.high is not None:
            left, right = (extent(_at(limit, reach)) for limit in (each.change.low, each.change.high))
            parts.append(tag("line", x1=left, x2=right, y1="50%", y2="50%", class_=f"limits {style}"))
        middle = extent(_at(each.change.value, reach))
        parts.append(tag("circle", cx=middle, cy="50%", r=5, class_=f"ours {style}"))
    return tag("svg", *parts, class_="cell", role="img", width="100%", height="100%")


def _axis_drawing(reach: float) -> str:
    """Return the axis below all rows."""
    marks = [(0.0, "0"), (reach / 2, f"+{percent(reach / 2)}"), (-reach / 2, f"−{percent(reach / 2)}")]
    labels = [text(label, x=extent(_at(at, reach)), y="12", text_anchor="middle") for at, label in marks]
    return tag("svg", *labels, class_="axis", width="100%", height="18")


def _at(share: float, reach: float) -> float:
    """Return where a share of worse lies, in per cent of the width."""
    return 50 * (1 + max(-1.0, min(share / reach, 1.0)))


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


KIND = Kind(sections=_sections, document=_document, page=_page, first_line=_first_line, compared=_compared)


def rendered(race: Race, form: str) -> str:
    """Return the report of a check for the option ``form``: junit, openmetrics, json, markdown or html."""
    from .ci import junit, openmetrics

    of_ci = {"junit": junit, "openmetrics": openmetrics}
    return of_ci[form](race) if form in of_ci else written(KIND, race, Format[form.upper()])
