"""The checks on a race as a whole: what no single slice can show."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..model.verdict import Effect, Finding, Verdict
from .judge import judge, percent

__all__ = ["RACE_CHECKS", "AnswerSizes", "Carried", "Drifted", "RaceView", "TwinPair", "examine_race"]

MOST_DRIFT = 0.10
MOST_SIZES = 0.02
HEADERS_BYTES = 256
"""What Date, Server, Connection, Keep-Alive, Via and the like take where a server sends all of them."""
CARRY_OVER = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinPair:
    """The twin's throughput ÷ its original's at one level, with the limits that hold for all levels at once."""

    where: str
    ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted:
    """How much a series changed from the first block to the last, in ln units, with its limits."""

    value: float
    low: float
    high: float

    @property
    def notable(self) -> bool:
        """Whether it is larger than what is let pass, and surely more than nothing."""
        return abs(self.value) > math.log1p(MOST_DRIFT) and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSizes:
    """The bytes read for each right answer at one level, headers included, by stack: the median of its slices."""

    where: str
    bytes_by_stack: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """One test for carry-over: by what the residuals were grouped, at which level, and its p-value."""

    by: str
    where: str
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceView:
    """What there is to see of a race as a whole; empty or None where it cannot be told.

    ``twin`` is the path of the stack that ran twice. ``canary`` is the drift at the headline level of the stacks
    that took part in most blocks, in the mean; ``uneven`` that of each of them beside the others, limits for all
    of them at once.
    """

    twin: str = ""
    twins: tuple[TwinPair, ...] = ()
    canary: Drifted | None = None
    uneven: tuple[tuple[str, Drifted], ...] = ()
    sizes: tuple[AnswerSizes, ...] = ()
    carried: tuple[Carried, ...] = ()


def twins_differ(seen: RaceView) -> Finding | None:
    """A stack and its hidden twin came out different: whatever made them so may have made the others differ, too.

    Source: Kohavi, Tang & Xu 2020, Trustworthy Online Controlled Experiments, chapter 19 (A/A tests).
    """
    apart = [pair for pair in seen.twins if not pair.low <= 1 <= pair.high]
    if not apart:
        return None
    worst = max(apart, key=lambda pair: abs(math.log(pair.ratio)))
    more = f", and at {len(apart) - 1} more levels" if len(apart) > 1 else ""
    return Finding(
        check="twins differ",
        effect=Effect.INVALIDATES,
        seen=f"{seen.twin} ran twice under two names, and {worst.where} its twin delivered {worst.ratio:.2f}× its "
        f"throughput ({worst.low:.2f}–{worst.high:.2f}){more}",
        threshold="the limits of their ratio hold 1",
        remedy="do not use this standing: race again on a quieter machine, or with a longer budget; if it happens "
        "again, look for what the second start of a stack finds otherwise (a full disk, a cache, a fixed port)",
    )


def canary_drifts(seen: RaceView) -> Finding | None:
    """The stacks that took part in most blocks became faster or slower by more than 10 % in the course of the race.

    Blocks cancel what all stacks meet alike, so that alone is a warning: it makes the absolute figures doubtful.
    Where one of them drifted beside the others as well, the order depends on the hour, and the race is void.

    Source: Abedi & Brecht 2017, Conducting repeatable experiments in highly variable cloud computing environments.
    """
    if seen.canary is None or not seen.canary.notable:
        return None
    drifted = f"the stacks ended {_changed(seen.canary)} than they began"
    others = [(stack, one) for stack, one in seen.uneven if one.notable]
    if not others:
        effect, told = Effect.WARNS, ", all of them alike, so their ratios hold, the absolute figures less so"
    else:
        stack, most = max(others, key=lambda pair: abs(pair[1].value))
        effect, told = (
            Effect.INVALIDATES,
            f", but {stack} did not go with the others: beside them it ended {_changed(most)}",
        )
    return Finding(
        check="canary drifts",
        effect=effect,
        seen=drifted + told,
        threshold=f"at most {percent(MOST_DRIFT)} from the first block to the last",
        remedy="look for what else the machine does (other guests, heat, a growing database), and race again",
    )


def answer_sizes(seen: RaceView) -> Finding | None:
    """Right answers are not equally long on all stacks, beyond the headers that servers add: compression, padding.

    What is longer takes longer to send. The size is that of the whole answer as read, headers and all, so that
    those of tiny answers (to HEAD, redirections) always differ: 256 bytes are let pass, which no network notices.

    Source: RFC 9110, sections 6.3 and 8.6 (message framing, Content-Length).
    """
    spans = [(_apart(one), one) for one in seen.sizes if _apart(one) > 0]
    if not spans:
        return None
    most, level = max(spans, key=lambda pair: pair[0])
    (small, few), (large, many) = (f(level.bytes_by_stack, key=lambda pair: pair[1]) for f in (min, max))
    return judge(
        "answer sizes",
        most,
        warns=MOST_SIZES,
        seen=f"{level.where} an answer of {large} is {many:.0f} bytes long, one of {small} {few:.0f}",
        remedy="compare them with `stackrace up STACK` and curl -i: compression, cookies, long headers",
        unit=lambda limit: f"{percent(limit)}, or {HEADERS_BYTES} bytes",
    )


def carry_over(seen: RaceView) -> Finding | None:
    """What a slice shows depends on its place in the turn, or on which stack was under load before it.

    The threshold is shared by all tests that were made (Bonferroni).

    Source: Jones & Kenward 2014, Design and Analysis of Cross-Over Trials.
    """
    if not seen.carried:
        return None
    least = min(seen.carried, key=lambda one: one.p)
    if least.p * len(seen.carried) >= CARRY_OVER:
        return None
    return Finding(
        check="carry-over",
        effect=Effect.WARNS,
        seen=f"{least.where} the throughput depends on {least.by} (p = {least.p:.2g})",
        threshold=f"p of at least {CARRY_OVER:g}, shared by {len(seen.carried)} tests",
        remedy="stacks leave work behind for the next one: fewer connections, longer slices, or runs on fresh "
        "launches ([race] repeats) keep them apart",
    )


RACE_CHECKS: tuple[Callable[[RaceView], Finding | None], ...] = (
    twins_differ,
    canary_drifts,
    answer_sizes,
    carry_over,
)


def examine_race(view: RaceView) -> Verdict:
    """Run every check on a race as a whole; where the verdict is invalid, the race is void."""
    return Verdict.of(check(view) for check in RACE_CHECKS)


def _changed(drifted: Drifted) -> str:
    share = math.expm1(drifted.value)
    return f"{percent(abs(share))} {'faster' if share > 0 else 'slower'}"


def _apart(level: AnswerSizes) -> float:
    """Return how much longer the longest answers are than the shortest, 0 where headers account for it."""
    sizes = [size for _, size in level.bytes_by_stack]
    apart = max(sizes, default=0.0) - min(sizes, default=0.0)
    return apart / min(sizes) if apart > HEADERS_BYTES else 0.0
