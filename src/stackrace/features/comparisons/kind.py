"""A rerun as a kind of result: its counts, its claims then and now, the missing ones; and its JSON document.

All ratios are this ÷ that, or of a table's row to its first row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from ...base.codec import FLAT, LEFT_OUT, Form, readable
from ...report.exporter import Kind
from ...report.sheet import FILES, Column, Item, Listing, Medium, Notes, Paragraph, Section, Table, Tone
from . import words
from .model import Claim, Comparison, Figure, Technique
from .model import Table as PublishedTable
from .rerun import ClaimOutcome, Kept, PartOutcome, Rerun, RowOutcome, Ruling, TableOutcome

_SCREEN = (Medium.SCREEN,)

_COMPLAINTS = 3

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
    yield Section(title="Then", blocks=(_then(rerun),), media=FILES)
    yield Section(title="Now", blocks=(_now(rerun),), media=FILES)
    for key, claims in groupby(rerun.claims, key=lambda outcome: outcome.claim.part):
        yield Section(title=comparison.part(key).title, blocks=(_claims(list(claims)),), media=_SCREEN)
    note = f"{words.limits_note(rerun)} Ratios are the first named ÷ the second."
    yield Section(title="The claims", blocks=(_claims(rerun.claims), Paragraph(text=note)), media=FILES)
    for ruling, title in words.CONCLUSIONS.items():
        if chosen := [outcome for outcome in rerun.claims if outcome.ruling is ruling]:
            yield Section(title=title, blocks=(_conclusion(chosen),), media=FILES)
    for table in rerun.tables:
        yield Section(title=words.table_title(rerun, table), blocks=(_then_and_now(table),))
    if gone := [technique for technique in comparison.techniques.values() if technique.gone]:
        items = (Item(lead=technique.title, text=f"{technique.gone} {technique.instead}") for technique in gone)
        yield Section(title="Gone since, and its replacement", blocks=(Listing(items=tuple(items)),))
    raced = (
        Item(lead=technique.path, is_code=True, text=f"({technique.key}, {technique.title})")
        for technique in comparison.techniques.values()
    )
    yield Section(title="Raced as", blocks=(Listing(items=tuple(raced)),), media=FILES)
    yield Section(title="", blocks=(Notes(texts=tuple(filter(None, _notes(rerun)))),), media=_SCREEN)
    made = f"Rerun {rerun.kept.id}, {rerun.kept.made_at}."
    yield Section(title="", blocks=(Notes(texts=(made,)),), media=(Medium.PAGE,))


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
    tones = tuple(_TONES[outcome.ruling] for outcome in outcomes)
    return Table(columns=(
        Column(title="claim", cells=tuple(claim.says for claim in claims), left=True, once=True, wraps=(18, 3),
               notes=tuple(map(words.basis, claims))),
        Column(title="of what", cells=tuple(map(words.sides, claims)), left=True, media=FILES),
        Column(title="at", cells=tuple(map(words.where, claims)), left=True, wraps=(6, 2)),
        Column(title="then", cells=tuple(map(words.then, claims))),
        Column(title="now (limits)", short="now", cells=tuple(map(words.now, outcomes)), left=True, wraps=(12, 2)),
        Column(title="now", cells=tuple(map(words.now, outcomes)), tones=tones, media=(Medium.PAGE,),
               intervals=tuple(outcome.now for outcome in outcomes), ratios=True),
        Column(title="", cells=tuple(outcome.ruling.value for outcome in outcomes), left=True, wraps=(12, 3),
               notes=tuple(map(words.remark, outcomes)), join=": {}",
               tones=tones),
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
    rerun: Rerun
    host: str
    """The machine in words."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    outcome: PartOutcome
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    outcome: ClaimOutcome
    within_difference: bool
    """True if the limits leave no difference that matters."""
    published_within_limits: bool | None
    """True if the published ratio lies within the limits; null without either."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """A published comparison that was raced again. Unknown values are null."""

    format: Literal["stackrace-comparison"] = "stackrace-comparison"
    version: Literal[1] = 1
    comparison: Comparison
    rerun: _Head
    parts: tuple[_Part, ...]
    techniques: Mapping[str, Technique]
    """Techniques by key."""
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


KIND = Kind(sections=_sections, document=_document, headings="##")
