"""A rerun as a kind of result: how many claims hold, each of them, then and now, and what is missing; and its JSON
document.

All ratios are this ÷ that, or of a table's row to its first row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup

from ...base.codec import FLAT, LEFT_OUT, Form, readable
from ...report.exporter import Kind
from ...report.html.bars import axis, percent, rules
from ...report.html.svg import Scale, caption, extent, logarithmic, tag
from ...report.sheet import Column, Item, Listing, Medium, Notes, Paragraph, Section, Table, Tone
from . import words
from .model import Claim, Comparison, Figure, Technique
from .model import Kind as ClaimKind
from .model import Table as PublishedTable
from .rerun import ClaimOutcome, Kept, PartOutcome, Rerun, RowOutcome, Ruling, TableOutcome

_SCREEN = (Medium.SCREEN,)
_TEXT = (Medium.TEXT,)

_COMPLAINTS = 3
"""How many complaints of a part the terminal shows, the gravest first. The race's own report has them all."""

_TONES = {
    Ruling.HOLDS: Tone.GOOD,
    Ruling.REVERSED: Tone.WRONG,
    Ruling.NOT_SO: Tone.WRONG,
    Ruling.SAME: Tone.OTHER,
    Ruling.UNDECIDED: Tone.DOUBTFUL,
    Ruling.NOT_MEASURED: Tone.ASIDE,
}


def _sections(rerun: Rerun) -> Iterator[Section]:
    comparison = rerun.comparison
    yield Section(title=words.title(comparison), main=True, blocks=(
        Paragraph(text=words.headline(rerun), tone=Tone.STRONG),
        Paragraph(text=words.about(rerun), tone=Tone.ASIDE),
    ))  # fmt: skip
    yield Section(title="Then", blocks=(_then(rerun),), media=_TEXT)
    yield Section(title="Now", blocks=(_now(rerun),), media=_TEXT)
    for key, claims in groupby(rerun.claims, key=lambda outcome: outcome.claim.part):
        yield Section(title=comparison.part(key).title, blocks=(_claims(list(claims)),), media=_SCREEN)
    note = f"{words.limits_note(rerun)} Ratios are the first named ÷ the second."
    yield Section(title="The claims", blocks=(_claims(rerun.claims), Paragraph(text=note)), media=_TEXT)
    for ruling, title in words.CONCLUSIONS.items():
        if chosen := [outcome for outcome in rerun.claims if outcome.ruling is ruling]:
            yield Section(title=title, blocks=(_conclusion(chosen),), media=_TEXT)
    for table in rerun.tables:
        yield Section(title=words.table_title(rerun, table), blocks=(_then_and_now(table),))
    if gone := [technique for technique in comparison.techniques.values() if technique.gone]:
        items = (Item(lead=technique.title, text=f"{technique.gone} {technique.instead}") for technique in gone)
        yield Section(title="Gone since, and its replacement", blocks=(Listing(items=tuple(items)),))
    raced = (
        Item(lead=technique.path, is_code=True, text=f"({technique.key}, {technique.title})")
        for technique in comparison.techniques.values()
    )
    yield Section(title="Raced as", blocks=(Listing(items=tuple(raced)),), media=_TEXT)
    yield Section(title="", blocks=(Notes(texts=tuple(filter(None, _notes(rerun)))),), media=_SCREEN)


def _then(rerun: Rerun) -> Listing:
    source = rerun.comparison.source
    facts = {"Machine": source.machine, "Software": source.software, "Protocol": source.protocol,
             "Doubts": source.doubts, "Lost": rerun.comparison.lost}  # fmt: skip
    return Listing(items=tuple(Item(lead=name, text=text) for name, text in facts.items() if text))


def _now(rerun: Rerun) -> Listing:
    begun = Item(lead=words.command(rerun), is_code=True, text=f"on {rerun.kept.made_at[:10]}")
    parts = (Item(text=words.part_sentence(rerun, part), inner=tuple(_deviations(rerun, part)))
             for part in rerun.kept.parts)  # fmt: skip
    return Listing(items=(begun, *parts, *(Item(text=words.mix_sentence(mix)) for mix in rerun.mixes)))


def _deviations(rerun: Rerun, part: PartOutcome) -> Iterator[str]:
    deviations = rerun.comparison.part(part.part).deviations
    return filter(None, (deviations, *part.left_out, *part.complaints))


def _notes(rerun: Rerun) -> Iterator[str]:
    yield words.limits_note(rerun)
    yield rerun.comparison.lost
    for part in rerun.kept.parts:
        yield words.part_sentence(rerun, part, full=False)
        shown = len(part.complaints) - _COMPLAINTS
        yield from list(_deviations(rerun, part))[: -shown if shown > 0 else None]
    yield from map(words.mix_sentence, rerun.mixes)


def _claims(outcomes: Sequence[ClaimOutcome]) -> Table:
    claims = [outcome.claim for outcome in outcomes]
    return Table(columns=(
        Column(title="claim", cells=tuple(claim.says for claim in claims), left=True, once=True, wraps=(18, 3),
               notes=tuple(map(words.basis, claims))),
        Column(title="of what", cells=tuple(map(words.sides, claims)), left=True, media=_TEXT),
        Column(title="at", cells=tuple(map(words.where, claims)), left=True, wraps=(6, 2)),
        Column(title="then", cells=tuple(map(words.then, claims))),
        Column(title="now (limits)", short="now", cells=tuple(map(words.now, outcomes)), left=True, wraps=(12, 2)),
        Column(title="", cells=tuple(outcome.ruling.value for outcome in outcomes), left=True, wraps=(12, 3),
               notes=tuple(map(words.remark, outcomes)), join=": {}",
               tones=tuple(_TONES[outcome.ruling] for outcome in outcomes)),
    ))  # fmt: skip


def _conclusion(outcomes: Iterable[ClaimOutcome]) -> Listing:
    claims = groupby((outcome.claim for outcome in outcomes), key=lambda claim: claim.says)
    return Listing(items=tuple(Item(text=f"{says} ({'; '.join(map(words.where, same))})") for says, same in claims))


def _then_and_now(outcome: TableOutcome) -> Table:
    titles = Column(title="", cells=tuple(row.title for row in outcome.table.rows), left=True, wraps=(1, 1))
    columns = (
        Column(
            title=f"c={level}",
            cells=tuple(f"{words.ratio(row.then[place])} → {words.ratio(row.now[place])}" for row in outcome.rows),
        )
        for place, level in enumerate(outcome.table.levels)
    )
    return Table(columns=(titles, *columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """When, where and how the comparison was raced again."""

    rerun: Rerun
    host: str
    """The machine in words."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What became of one race of the comparison."""

    outcome: PartOutcome
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A claim, and what is to be said of it today."""

    outcome: ClaimOutcome
    within_difference: bool
    """Whether the limits leave no difference that matters."""
    published_within_limits: bool | None
    """Whether the published ratio lies within the limits; null without either."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """A published comparison that was raced again. What is not known is null."""

    format: Literal["stackrace-comparison"] = "stackrace-comparison"
    version: Literal[1] = 1
    comparison: Comparison
    rerun: _Head
    parts: tuple[_Part, ...]
    techniques: Mapping[str, Technique]
    """By key."""
    claims: tuple[_Claim, ...]
    tables: tuple[TableOutcome, ...]
    figures: tuple[Figure, ...]


_FORM = Form(
    names={
        Comparison: dict.fromkeys(("parts", "techniques", "figures", "claims", "tables", "mixes"), LEFT_OUT),
        _Head: {"rerun": FLAT},
        Rerun: {"kept": FLAT, **dict.fromkeys(("comparison", "claims", "tables", "host", "mixes"), LEFT_OUT)},
        Kept: dict.fromkeys(("name", "number", "parts"), LEFT_OUT),
        _Part: {"outcome": FLAT},
        Technique: {"key": LEFT_OUT},
        _Claim: {"outcome": FLAT},
        ClaimOutcome: {"claim": FLAT, **dict.fromkeys(("gap", "survival", "difference"), LEFT_OUT)},
        Claim: {"ratio": "then"},
        TableOutcome: {"table": FLAT},
        PublishedTable: {"rows": LEFT_OUT},
        RowOutcome: {"row": FLAT},
        Figure: {"cell": FLAT},
    },
)


def _document(rerun: Rerun) -> dict[str, Any]:
    comparison = rerun.comparison
    notes = tuple(words.mix_sentence(mix) for mix in rerun.mixes)
    made = _Document(
        comparison=comparison,
        rerun=_Head(rerun=rerun, host=words.machine(rerun.host), notes=notes),
        parts=tuple(_Part(outcome=part, title=comparison.part(part.part).title) for part in rerun.kept.parts),
        techniques=comparison.techniques,
        claims=tuple(map(_claim_of, rerun.claims)),
        tables=rerun.tables,
        figures=comparison.figures,
    )
    return readable(made, _FORM)


def _claim_of(outcome: ClaimOutcome) -> _Claim:
    return _Claim(
        outcome=outcome,
        within_difference=outcome.within,
        published_within_limits=outcome.agrees,
        reason=words.reason(outcome),
    )


def _page(rerun: Rerun) -> str:
    by_part = groupby(rerun.claims, lambda outcome: outcome.claim.part)
    from ...report.html.page import draw_page

    return draw_page(
        "comparison.html.j2", Path(__file__).parent,
        rerun=rerun, comparison=rerun.comparison, words=words, classes=_CLASSES, zip=zip,
        parts=[(rerun.comparison.part(key).title, *_drawn(list(outcomes))) for key, outcomes in by_part],
        gone=[technique for technique in rerun.comparison.techniques.values() if technique.gone],
        command=words.command(rerun),
    )  # fmt: skip


def _drawn(outcomes: Sequence[ClaimOutcome]) -> tuple[list[tuple[ClaimOutcome, Markup]], Markup]:
    """Return a part's claims, each with its drawing, and the axis that they share."""
    scale = _claims_scale(outcomes)
    return [(outcome, Markup(_claim_drawing(outcome, scale))) for outcome in outcomes], Markup(axis(scale, "×"))


_ROOM = 1.15
"""How far the axis reaches beyond the outermost ratio; limits may lie beyond it and are cut there."""

_FARTHEST = 30.0
"""An interval never stretches the axis beyond this multiple of its own value."""

_CLASSES = {
    Ruling.HOLDS: "holds",
    Ruling.REVERSED: "reversed",
    Ruling.NOT_SO: "reversed",
    Ruling.SAME: "same",
    Ruling.UNDECIDED: "undecided",
    Ruling.NOT_MEASURED: "missing",
}
"""How each ruling is drawn: the classes of the style sheet."""


def _claims_scale(outcomes: Iterable[ClaimOutcome]) -> Scale:
    """Return an axis for all ratios, then and now, that holds one and half and twice as much at least."""
    values = [0.5, 2.0]
    for outcome in outcomes:
        values += [outcome.claim.ratio] if outcome.claim.ratio is not None else []
        if outcome.now is not None:
            value = outcome.now.value
            low, high = outcome.now.low or value, outcome.now.high or value
            values += [value, max(low, value / _FARTHEST), min(high, value * _FARTHEST)]
    return logarithmic(min(values) / _ROOM, max(values) * _ROOM)


def _claim_drawing(outcome: ClaimOutcome, scale: Scale) -> str:
    """Return one row: the claimed side shaded, our interval, and the published ratio as a diamond."""
    parts = [caption(_caption(outcome)), _claimed_side(outcome, scale), rules(scale)]
    x = percent(scale, 1.0)
    parts.append(tag("line", x1=x, x2=x, y1="0", y2="100%", class_="zero"))
    if outcome.now is not None:
        style = _CLASSES[outcome.ruling]
        if outcome.now.low is not None and outcome.now.high is not None:
            left, right = percent(scale, outcome.now.low), percent(scale, outcome.now.high)
            parts.append(tag("line", x1=left, x2=right, y1="50%", y2="50%", class_=f"limits {style}"))
        parts.append(tag("circle", cx=percent(scale, outcome.now.value), cy="50%", r=5, class_=f"ours {style}"))
    if outcome.claim.ratio is not None:
        parts.append(_diamond(percent(scale, outcome.claim.ratio)))
    return tag("svg", *parts, class_="cell", role="img", width="100%", height="100%")


def _diamond(x: str) -> str:
    """A square turned by an eighth around its middle; nested, since transforms know no per cent."""
    shape = tag("rect", x=-4.5, y=-4.5, width=9, height=9, transform="rotate(45)", class_="published")
    return tag("svg", shape, x=x, y="50%", overflow="visible")


def _claimed_side(outcome: ClaimOutcome, scale: Scale) -> str:
    """Shade where the ratio would have to lie for the claim to hold; nothing for claims of failing."""
    edges = {
        ClaimKind.MORE: (1.0, scale.high),
        ClaimKind.LESS: (scale.low, 1.0),
        ClaimKind.NO_MORE: (scale.low, 1 + outcome.difference),
        ClaimKind.SAME: (1 / (1 + outcome.difference), 1 + outcome.difference),
    }
    if outcome.claim.kind not in edges:
        return ""
    low, high = edges[outcome.claim.kind]
    left, width = scale.at(low), scale.at(high) - scale.at(low)
    return tag("rect", x=extent(100 * left), width=extent(100 * width), y="12%", height="76%", class_="claimed")


def _caption(outcome: ClaimOutcome) -> str:
    now = words.now(outcome) or "nothing"
    claim = outcome.claim
    return f"{claim.says}, {words.where(claim)}: then {words.then(claim)}, now {now}; {outcome.ruling.value}"


KIND = Kind(sections=_sections, document=_document, page=_page, headings="##")
