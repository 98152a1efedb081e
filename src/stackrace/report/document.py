"""One JSON document with everything known about a race; ``stackrace report --schema`` prints what its members mean.

Units are in the names: ``_s`` seconds, ``_per_s`` per second, ``_ms`` milliseconds, ``_bytes`` bytes. What is not
known, and what is not a finite number, is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union

from ..base.codec import FLAT, LEFT_OUT, Form, readable
from ..base.numbers import Interval
from ..base.text import printable
from ..measure.host import Conditions
from ..measure.launch import Failure, HopUsage, Launch, MemorySample, Slice
from ..measure.load import Load, LoadResult, Quantiles
from ..measure.resources import Resources
from ..race.notices import details, notice_types
from ..race.results.answer import Answer, Lead
from ..race.results.parts import shown, shown_type
from ..race.results.race import Race
from ..race.results.sensitivity import Condition
from ..race.results.standing import Costs, Level, Reason, Row, Standing
from ..race.stopwatch import Duty
from ..stacks.facts import StackFacts
from ..stats.values import MachineComparison, ScalingCurve
from . import scaling
from .troubles import refused
from .words import race_words
from .words.findings import FindingDocument, failure_kind, failure_message, finding_document
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
class RowDocument:
    """One stack at one load level."""

    row: Row
    throughput: Throughput
    """Right answers per second."""
    latency_limits: Mapping[str, LatencyLimits | None]
    """By quantile: null for one that too few requests lie above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelDocument:
    """One workload at one load level, best tier first."""

    label: str
    """As tables name it: ``c=20``."""
    workload: str
    """By name; empty where it is the only one."""
    load: Load
    rows: tuple[RowDocument, ...]
    """A row for each stack."""


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
class WithdrawalDocument:
    """A stack without a place in the standing, and why."""

    stack: str
    """By path."""
    failure: FailureDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceDocument:
    """One uninterrupted stretch of load on one launched stack."""

    index: int
    """Orders the slices of a race in time."""
    workload: str
    """By name; empty where it is the only one."""
    load: Load
    valid: bool
    """Whether it is part of the statistics."""
    throughput_per_s: float
    """Right answers per second."""
    result: LoadResult
    findings: tuple[FindingDocument, ...]
    """What the checks say about it."""
    usage: tuple[HopUsage, ...]
    """What the processes of each hop cost."""
    conditions: Conditions | None
    """What the machine did meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchDocument:
    """One fresh start of a stack with the slices taken on it."""

    id: str
    """Its id."""
    block: int
    """The block it was made in, from 0."""
    stack: str
    """By path; the hidden twin's has an ending of its own."""
    machine: str
    """The name of the machine it was made on, where there are several."""
    ready_s: float | None
    """Seconds from the start of its first process to its first right answer."""
    warmup_s: float
    """Seconds of load before its first slice."""
    failure: FailureDocument | None
    findings: tuple[FindingDocument, ...]
    """About the launch as a whole."""
    slices: tuple[SliceDocument, ...]
    """In order of time."""
    memory: tuple[MemorySample, ...]
    """In order of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DutyDocument:
    """Where a race's time went."""

    duty: Duty
    total_s: float
    """All of it."""


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
    duty: DutyDocument | None
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
    answer: Answer
    leads: tuple[Lead, ...]
    """Who holds the first place at each level; empty where the race is void."""
    reason: Reason | None
    """Where the CPU time of the first two rows goes."""
    costs: Costs | None
    """What the winner needs, against others."""
    conditions: tuple[Condition, ...]
    """What would have to be true for the answer to change, the likeliest first."""
    machines: tuple[MachineComparison, ...]
    """Each stack machine beside the one that measured most; empty where there is one alone."""
    settled: bool
    """Whether the question is answered."""
    resolution: float | None
    """The smallest difference in throughput that the headline level could show, 0.04 for 4 %."""
    headline: int | None
    """The level the answer speaks of, by its place in ``levels``."""
    standing: tuple[RowDocument, ...]
    """The rows of the headline level."""
    levels: tuple[LevelDocument, ...]
    """Each workload at each load level."""
    scaling: tuple[ScalingCurve, ...]
    """A curve for each stack and workload with two levels or more."""
    current: ShownNotice
    """What the project runs today against the stack that the answer names."""
    withdrawals: tuple[WithdrawalDocument, ...]
    """Stacks without a place in the standing."""
    findings: tuple[FindingDocument, ...]
    """About the race as a whole."""
    void: bool
    """Whether nothing of it may be believed."""
    warnings: Mapping[str, int]
    """How often each check warned, by its name."""
    race: RaceSetup
    stacks: tuple[StackFacts, ...]
    """What was raced: versions, settings, commands and configurations."""
    launches: tuple[LaunchDocument, ...]
    """In order of time."""


_FORM = Form(
    names={
        Load: {"seed": LEFT_OUT},
        RaceWords: {"words": FLAT},
        Throughput: {"limits": FLAT},
        # both have units in the document
        Row: dict.fromkeys(("throughput_per_s", "latency_limits"), LEFT_OUT),
        RowDocument: {"row": FLAT},
        Quantiles: {name: f"{name}_s" for name in ("mean", "p50", "p90", "p99", "p999", "max")},
        # a moment of the machine's own clock, and what only the store keeps
        LoadResult: dict.fromkeys(("started_at", "histogram", "series"), LEFT_OUT),
        SliceDocument: {"result": FLAT},
        DutyDocument: {"duty": FLAT},
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
    text=printable,
)
"""How a race's JSON document writes records down; text is made printable."""


def schema() -> str:
    """Return the JSON Schema of ``document``."""
    from ..base.json_schema import json_schema

    return json_schema(RaceDocument, _FORM, "race-2")


def document(race: Race, standing: Standing) -> dict[str, Any]:
    """Return the document of ``race`` and its ``standing`` as plain JSON values."""
    return readable(_document(race, standing), _FORM)


def _document(race: Race, standing: Standing) -> RaceDocument:
    known = {facts.stack: facts for facts in race.facts}
    return RaceDocument(
        words=_words(race, standing),
        answer=standing.answer,
        leads=standing.leads,
        reason=standing.reason,
        costs=standing.costs,
        conditions=standing.conditions,
        machines=standing.machines,
        settled=standing.settled,
        resolution=standing.resolution,
        headline=standing.headline if standing.levels else None,
        standing=tuple(map(_row, standing.rows)),
        levels=tuple(map(_level, standing.levels)),
        scaling=standing.scaling,
        current=standing.current,
        withdrawals=tuple(
            WithdrawalDocument(stack=each.stack, failure=_failure(each.failure)) for each in standing.withdrawals
        ),
        findings=tuple(map(finding_document, standing.verdict.findings)),
        void=not standing.verdict.valid,
        warnings=standing.warnings,
        race=_setup(race),
        stacks=tuple(known.get(stack, StackFacts(stack=stack)) for stack in race.stacks),
        launches=tuple(map(_launch, race.launches)),
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
        duty=None if race.duty is None else DutyDocument(duty=race.duty, total_s=race.duty.total_s),
        parts=shown(race.parts),
    )


def _level(level: Level) -> LevelDocument:
    rows = tuple(map(_row, level.rows))
    return LevelDocument(label=level.label, workload=level.workload, load=level.load, rows=rows)


def _row(row: Row) -> RowDocument:
    return RowDocument(
        row=row,
        throughput=Throughput(limits=row.throughput_per_s),
        latency_limits={name: _latency_limits(limits) for name, limits in row.latency_limits.items()},
    )


def _latency_limits(limits: Interval | None) -> LatencyLimits | None:
    if limits is None:
        return None
    return LatencyLimits(value_s=limits.value, low_s=limits.low, high_s=limits.high)


def _failure(cause: Failure) -> FailureDocument:
    return FailureDocument(
        code=cause.kind.value,
        kind=failure_kind(cause),
        message=failure_message(cause),
        log=cause.log,
    )


def _launch(launch: Launch) -> LaunchDocument:
    return LaunchDocument(
        id=launch.id,
        block=launch.block,
        stack=launch.stack,
        machine=launch.machine,
        ready_s=launch.ready_s,
        warmup_s=launch.warmup_s,
        failure=_failure(launch.failure) if launch.failure else None,
        findings=tuple(map(finding_document, launch.verdict.findings)),
        slices=tuple(map(_slice, launch.slices)),
        memory=launch.memory,
    )


def _slice(record: Slice) -> SliceDocument:
    return SliceDocument(
        index=record.index,
        workload=record.workload,
        load=record.load,
        valid=record.verdict.valid,
        throughput_per_s=record.throughput_per_s,
        result=record.result,
        findings=tuple(map(finding_document, record.verdict.findings)),
        usage=record.usage,
        conditions=record.conditions,
    )
