"""JSON document with all data of a race; ``stackrace report --schema`` prints the meaning of its members.

Units are in the names: ``_s`` seconds, ``_per_s`` per second, ``_ms`` milliseconds, ``_bytes`` bytes. Unknown
values, and numbers that are not finite, are null.
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
from ..race.judge.notices import details, notice_types
from ..race.results.parts import shown, shown_type
from ..race.results.race import Race
from ..race.results.standing import Level, Row, Standing
from ..race.run.stopwatch import Duty
from . import scaling_words
from .troubles import refused
from .words import race_words
from .words.findings import failure_kind, failure_message, finding_document, shortfall_words
from .words.standing_sentences import StandingWords, words_of

if TYPE_CHECKING:
    ShownParts = Any
    ShownNotice = Any
else:
    ShownParts = shown_type()
    ShownNotice = Union[*notice_types(), None] if notice_types() else str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceWords:
    """Sentences of the reports; each is empty if there is nothing to say."""

    words: StandingWords
    scaling: tuple[str, ...]
    """Reasons why no law of scaling was fitted."""
    refused: str
    """Launches and slices kept out of the statistics."""
    notes: tuple[str, ...]
    """Notes to read with every result."""


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
    """The quantile."""
    low_s: float | None
    high_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDocument(Row):
    """One stack at one load level."""

    throughput: Throughput
    """Right answers per second."""
    quantiles: Mapping[str, LatencyLimits | None]
    """Limits by quantile: null for one that too few requests lie above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureDocument:
    """Reason why a launch, or a stack, gave no result, or only part of one."""

    code: str
    """Kind of failure: ``not_started``, ``died``, ``refused`` …"""
    kind: str
    """Kind of failure in words."""
    message: str
    """Details of the failure; empty if the kind says it all."""
    log: str
    """Last lines of the stack's own logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortfallDocument:
    """Reason why a launch that did not fail lacks planned slices."""

    code: str
    """Cause of its end: ``budget``, ``busy``, ``interrupted`` …"""
    message: str
    """Cause in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceSetup:
    """Request and conditions of the race."""

    race: Race
    entry: str | None
    """Entry point of the app as in the race file; null for a bundled app."""
    twin: str | None
    """Path of the stack that also ran as its own hidden twin; null without a twin."""
    current: str | None
    """Path of the stack that the project runs today; null if there is none."""
    duty: Duty | None
    """Seconds by activity; null if not recorded."""
    parts: ShownParts
    """Data that features store with the race."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceDocument:
    """A race with its standing. Units are in the names; unknown values are null."""

    format: Literal["stackrace-race"] = "stackrace-race"
    """Name of the format."""
    version: Literal[2] = 2
    """Version of the format."""
    words: RaceWords
    result: Standing
    current: ShownNotice
    """The project's current stack against the stack that the answer names."""
    headline: int | None
    """Index in ``levels`` of the level that the answer is about."""
    void: bool
    """True if the whole race is invalid."""
    race: RaceSetup
    stacks: tuple[StackFacts, ...]
    """Raced stacks: versions, settings, commands and configurations."""
    launches: tuple[Launch, ...]
    """All launches in order of time."""


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
        # a time of the machine's own clock, and data for the store only
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
"""Form of the records in a race's JSON document."""

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
        scaling=scaling_words.unfits(standing.scaling),
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
