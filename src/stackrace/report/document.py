"""One JSON document with everything known about a race; ``stackrace report --schema`` prints what its members mean.

Units are in the names: ``_s`` seconds, ``_per_s`` per second, ``_ms`` milliseconds, ``_bytes`` bytes. What is not
known, and what is not a finite number, is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Union

from ..base.codec import FLAT, LEFT_OUT, Form, readable, schema_text
from ..base.numbers import Interval
from ..base.verdict import Finding
from ..measure.launch import Failure, Launch, Shortfall, Slice, StackFacts
from ..measure.load import Load, LoadResult, Quantiles
from ..measure.resources import Resources
from ..race.notices import details, notice_types
from ..race.results.parts import shown, shown_type
from ..race.results.race import Race
from ..race.results.standing import Level, Row, Standing
from ..race.stopwatch import Duty
from . import scaling
from .troubles import refused
from .words import race_words
from .words.findings import failure_kind, failure_message, finding_document, shortfall_words
from .words.standing import StandingWords, words_of

if TYPE_CHECKING:
    ShownParts = Any
    ShownNotice = Any
else:
    ShownParts = shown_type()
    ShownNotice = Union[*notice_types(), None] if notice_types() else str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceWords:
    """What the reports say, in sentences; each is empty where there is nothing to say."""

    words: StandingWords
    scaling: tuple[str, ...]
    """Why no law of scaling was fitted."""
    refused: str
    """How many launches and slices were kept out of the statistics."""
    notes: tuple[str, ...]
    """What is to be read with every result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """A rate with its limits at 95 % confidence."""

    unit: Literal["1/s"] = "1/s"
    """Right answers per second."""
    limits: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyLimits:
    """A quantile of latency with its limits at 95 % confidence, in seconds."""

    value_s: float
    """The quantile itself."""
    low_s: float | None
    high_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDocument(Row):
    """One stack at one load level."""

    throughput: Throughput
    """Right answers per second."""
    quantiles: Mapping[str, LatencyLimits | None]
    """By quantile: null for one that too few requests lie above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureDocument:
    """Why a launch, or a stack, gave no result, or only part of one."""

    code: str
    """How it failed: ``not_started``, ``died``, ``refused`` …"""
    kind: str
    """The same in words."""
    message: str
    """What happened; empty where the kind says it all."""
    log: str
    """The tail of the stack's own logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortfallDocument:
    """Why a launch that did not fail has not all slices that were planned."""

    code: str
    """What ended it: ``budget``, ``busy``, ``interrupted`` …"""
    message: str
    """The same in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceSetup:
    """What was asked, and under which conditions the race was held."""

    race: Race
    entry: str | None
    """What of the app is raced, as the race file calls it; null for a bundled one."""
    twin: str | None
    """The path of the stack that also ran as its own hidden twin; null without."""
    current: str | None
    """The path of the stack that is what the project runs today; null where none is."""
    duty: Duty | None
    """Where its time went; null where nobody took it."""
    parts: ShownParts
    """What features keep with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceDocument:
    """A race with its standing. Units are in the names; what is not known is null."""

    format: Literal["stackrace-race"] = "stackrace-race"
    """Tells this document from others."""
    version: Literal[2] = 2
    """Version of the format."""
    words: RaceWords
    result: Standing
    current: ShownNotice
    """What the project runs today against the stack that the answer names."""
    headline: int | None
    """The level the answer speaks of, by its place in ``levels``."""
    void: bool
    """Whether nothing of it may be believed."""
    race: RaceSetup
    stacks: tuple[StackFacts, ...]
    """What was raced: versions, settings, commands and configurations."""
    launches: tuple[Launch, ...]
    """In order of time."""


def _row(row: Row) -> RowDocument:
    members = {each.name: getattr(row, each.name) for each in fields(row)}
    quantiles = {name: _latency_limits(limits) for name, limits in row.latency_limits.items()}
    return RowDocument(**members, throughput=Throughput(limits=row.throughput_per_s), quantiles=quantiles)


def _latency_limits(limits: Interval | None) -> LatencyLimits | None:
    if limits is None:
        return None
    return LatencyLimits(value_s=limits.value, low_s=limits.low, high_s=limits.high)


def _failure(cause: Failure) -> FailureDocument:
    return FailureDocument(
        code=cause.kind.value, kind=failure_kind(cause), message=failure_message(cause), log=cause.log
    )


def _shortfall(why: Shortfall) -> ShortfallDocument:
    return ShortfallDocument(code=why.ended_by.value, message=shortfall_words(why))


_FORM = Form(
    record=RaceDocument,
    name="race-2",
    names={
        Load: {"seed": LEFT_OUT},
        RaceWords: {"words": FLAT},
        Throughput: {"limits": FLAT},
        RaceDocument: {"result": FLAT},
        Standing: {
            "verdict": FLAT,
            "settled": "settled",
            "rows": "standing",
            **dict.fromkeys(("headline", "current"), LEFT_OUT),
        },
        Level: {"label": "label"},
        # both have units in the document
        Row: dict.fromkeys(("throughput_per_s", "latency_limits"), LEFT_OUT),
        RowDocument: {"quantiles": "latency_limits"},
        Quantiles: {name: f"{name}_s" for name in ("mean", "p50", "p90", "p99", "p999", "max")},
        Launch: {"verdict": FLAT},
        Slice: {"verdict": FLAT, "result": FLAT, "valid": "valid", "throughput_per_s": "throughput_per_s"},
        # a moment of the machine's own clock, and what only the store keeps
        LoadResult: dict.fromkeys(("started_at", "histogram", "series"), LEFT_OUT),
        Duty: {"total_s": "total_s"},
        RaceSetup: {"race": FLAT, "parts": FLAT},
        Race: {
            **dict.fromkeys(("stacks", "facts", "launches", "entry", "twin", "current", "duty"), LEFT_OUT),
            **dict.fromkeys(("source", "parts", "altered", "unserved"), LEFT_OUT),
            "version": "stackrace_version",
            "cores": FLAT,
        },
        Resources: {"memory_bytes": "memory_limit_bytes", "quota": LEFT_OUT},
        **{kind: dict.fromkeys(kind.unshown, LEFT_OUT) for kind in notice_types()},
    },
    shown={
        Finding: finding_document,
        Failure: _failure,
        Shortfall: _shortfall,
        Row: _row,
    },
)
"""How a race's JSON document writes records down."""

schema = partial(schema_text, _FORM)


def document(race: Race, standing: Standing) -> dict[str, Any]:
    """Return the document of ``race`` and its ``standing`` as plain JSON values."""
    known = {facts.stack: facts for facts in race.facts}
    return readable(
        RaceDocument(
            words=_words(race, standing),
            result=standing,
            current=standing.current,
            headline=standing.headline if standing.levels else None,
            void=not standing.verdict.valid,
            race=_setup(race),
            stacks=tuple(known.get(stack, StackFacts(stack=stack)) for stack in race.stacks),
            launches=race.launches,
        ),
        _FORM,
    )


def _words(race: Race, standing: Standing) -> RaceWords:
    return RaceWords(
        words=words_of(race, standing),
        scaling=scaling.unfits(standing.scaling),
        refused=refused(race),
        notes=(*race_words.notes(race, standing), *details(race)),
    )


def _setup(race: Race) -> RaceSetup:
    return RaceSetup(
        race=race,
        entry=race.entry or None,
        twin=race.twin or None,
        current=race.current or None,
        duty=race.duty,
        parts=shown(race.parts),
    )
