"""Checks of a race as a whole, for signs that no single slice can show."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..base.numbers import percent
from ..base.verdict import Effect, Finding, Unit
from ..stats.values import Drift
from .declaration import Limits, on_race

_MOST_DRIFT = 0.10
_HEADERS_BYTES = 256
"""Bytes of Date, Server, Connection, Keep-Alive, Via and the like, if a server sends all of them."""
_CARRY_OVER = 0.01

_TWINS = (
    "{twin} ran twice under two names, and {where} its twin delivered {value:.2f}× its throughput "
    "({low:.2f}–{high:.2f})"
)
_DRIFTED = "the stacks ended {change:pace} than they began"


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinPair:
    """Throughput of the twin ÷ its original's at one level, with limits that hold for all levels at once."""

    where: str
    ratio: float
    low: float
    high: float

    @property
    def differ(self) -> bool:
        """True if the two have different results: the limits exclude 1."""
        return not self.low <= 1 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSizes:
    """Bytes read per right answer at one level, headers included, by stack: the median of its slices."""

    where: str
    bytes_by_stack: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryOverTest:
    """One test for carry-over."""

    by: str
    """Grouping of the residuals, in words."""
    where: str
    """Load level, in words."""
    p: float
    """The p-value, from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceView:
    """View of a race as a whole; fields are empty or None if they are unknown."""

    twin: str = ""
    """Path of the stack that ran twice."""
    twins: tuple[TwinPair, ...] = ()
    drift: Drift | None = None
    """Mean drift of the stacks that took part in most blocks, at the headline level."""
    uneven: tuple[tuple[str, Drift], ...] = ()
    """Drift of each of these stacks relative to the others, by path; the limits hold for all at once."""
    sizes: tuple[AnswerSizes, ...] = ()
    """Sizes of the stacks' answers, by level."""
    carried: tuple[CarryOverTest, ...] = ()
    """Tests for carry-over from one slice to the next."""


@on_race(
    id="twins-differ",
    number=37,
    effects=(Effect.INVALIDATES,),
    unit=Unit.RATIO,
    threshold="the limits of their ratio include 1",
    seen={
        "": _TWINS,
        "more": f"{_TWINS}, and at {{more}} more levels",
    },
    remedy="do not use this standing: race again on a quieter machine, or with a longer budget; if it happens "
    "again, look for what differs at a stack's second start (a full disk, a cache, a fixed port)",
    source="Kohavi, Tang & Xu 2020, Trustworthy Online Controlled Experiments, chapter 19 (A/A tests)",
)
def _twins_differ(view: RaceView) -> Finding | None:
    """A stack and its hidden twin have different results.

    The same cause may have made other stacks differ, too.
    """
    differing = [pair for pair in view.twins if pair.differ]
    if not differing:
        return None
    worst = max(differing, key=lambda pair: abs(math.log(pair.ratio)))
    return _twins_differ.finding(
        value=worst.ratio,
        limit=1.0,
        case="more" if len(differing) > 1 else "",
        twin=view.twin,
        where=worst.where,
        low=worst.low,
        high=worst.high,
        more=len(differing) - 1,
    )


@on_race(
    id="throughput-drifts",
    number=37,
    effects=(Effect.WARNS, Effect.INVALIDATES),
    unit=Unit.SHARE,
    threshold="at most {limit:percent} from the first block to the last",
    rule=f"{percent(_MOST_DRIFT)}, alike on all stacks",
    seen={
        "alike": f"{_DRIFTED}, all of them alike: the ratios hold, the absolute figures less so",
        "apart": f"{_DRIFTED}, but {{stack}} changed otherwise: relative to the others it ended {{beside:pace}}",
    },
    remedy="look for what changes on the machine (other guests, heat, a growing database), and race again",
    source="Abedi & Brecht, ICPE 2017",
)
def _throughput_drifts(view: RaceView) -> Finding | None:
    """The stacks of most blocks became faster or slower during the race.

    Blocks cancel effects on all stacks alike, so drift alone only warns: the absolute figures are doubtful. If one
    of the stacks also drifted relative to the others, the order depends on the hour, and the race is void.
    """
    if view.drift is None or not _notable(view.drift):
        return None
    change = math.expm1(view.drift.value)
    others = [(stack, drift) for stack, drift in view.uneven if _notable(drift)]
    if not others:
        return _throughput_drifts.finding(value=abs(change), limit=_MOST_DRIFT, case="alike", change=change)
    stack, most = max(others, key=lambda pair: abs(pair[1].value))
    return _throughput_drifts.finding(
        effect=Effect.INVALIDATES,
        value=abs(change),
        limit=_MOST_DRIFT,
        case="apart",
        change=change,
        stack=stack,
        beside=math.expm1(most.value),
    )


@on_race(
    id="answer-sizes",
    number=28,
    limits=Limits(warns=0.02),
    threshold=f"at most {{limit:percent}}, or {_HEADERS_BYTES} bytes",
    of=f"or {_HEADERS_BYTES} bytes",
    seen="{where} an answer of {large} is {most_bytes:.0f} bytes long, one of {small} {least_bytes:.0f}",
    remedy="compare them with `stackrace up {large}`, `stackrace up {small}` and curl -i: "
    "compression, cookies, long headers",
    source="RFC 9110 sections 6.3 and 8.6",
)
def _answer_sizes(view: RaceView) -> Finding | None:
    """Right answers differ in length between stacks by more than the servers' own headers.

    Longer answers take longer to send. The whole answer counts as it is read, headers included, so the sizes of
    tiny answers (to HEAD, redirections) always differ. Differences no larger than the headers are ignored: they
    make no difference on a network.
    """
    spans = [(_spread(size), size) for size in view.sizes if _spread(size) > 0]
    if not spans:
        return None
    most, level = max(spans, key=lambda pair: pair[0])
    (small, few), (large, many) = (f(level.bytes_by_stack, key=lambda pair: pair[1]) for f in (min, max))
    return _answer_sizes.judge(most, where=level.where, large=large, small=small, most_bytes=many, least_bytes=few)


@on_race(
    id="carry-over",
    number=36,
    title="carry-over",
    effects=(Effect.WARNS,),
    unit=Unit.PROBABILITY,
    threshold="p of at least {limit:g}, shared by {tests} tests",
    rule=f"p at least {_CARRY_OVER:g}, shared by all tests",
    seen="{where} the throughput depends on {by} ({p:p})",
    remedy="stacks leave work for the next one: use fewer connections, longer slices, or runs on "
    "fresh launches (--repeats 5 --duration 2s)",
    source="Jones & Kenward 2014, Design and Analysis of Cross-Over Trials",
)
def _carry_over(view: RaceView) -> Finding | None:
    """A slice's throughput depends on its place in the order, or on the stack loaded before it.

    All tests that were made share the threshold (Bonferroni).
    """
    if not view.carried:
        return None
    least = min(view.carried, key=lambda effect: effect.p)
    shared = least.p * len(view.carried)
    if shared >= _CARRY_OVER:
        return None
    return _carry_over.finding(
        value=shared, limit=_CARRY_OVER, where=least.where, by=least.by, p=least.p, tests=len(view.carried)
    )


def _notable(drift: Drift) -> bool:
    """Return True if the drift is larger than the tolerance, and its limits exclude 0."""
    return abs(drift.value) > math.log1p(_MOST_DRIFT) and not drift.low <= 0 <= drift.high


def _spread(level: AnswerSizes) -> float:
    """Return the relative excess of the longest answers over the shortest; 0 if headers explain it."""
    sizes = [size for _, size in level.bytes_by_stack]
    differing = max(sizes, default=0.0) - min(sizes, default=0.0)
    return differing / min(sizes) if differing > _HEADERS_BYTES else 0.0
