"""Equivalence of exported files and the original: the steps of the proof, and the comparison of their speed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ...base.errors import RefusedError
from ...base.numbers import Interval
from ...race.judge.decisions import Decisions
from ...race.judge.levels import MeasuredLevel, blocks_of, headline_of, measured_levels
from ...race.judge.looks import watched
from ...race.judge.samples import Values
from ...race.results.comparison import Response, State, Terms
from ...race.results.race import Race
from ...race.run.resume import counted
from ...race.run.scheduling import Scheduling
from ...stacks.stack import Side, Stack, side_path
from ...stats.limits import ratio_of


class Verdict(StrEnum):
    """Answer to the question whether one is as fast as the other."""

    EQUIVALENT = "equivalent"
    """Both limits of the ratio lie within the difference that does not matter."""
    DIFFERENT = "different"
    """Both limits lie beyond that difference, on the same side."""
    OPEN = "open"
    """Neither is proved: there was too little time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """Throughput of the exported files against the original's; without values nothing was raced."""

    verdict: Verdict | None = None
    """The answer; None if nothing was raced."""
    difference: float | None = None
    """The share that does not matter: 0.05 is 5 %. The ratio must lie within 1/(1 + d) and 1 + d."""
    ratio: Interval | None = None
    """Throughput of the exported files divided by the original's; None if no block had both."""
    blocks: int = 0
    """Number of blocks with valid slices of both."""
    could_have_seen: float | None = None
    """The smallest difference within which the limits lie; None without limits."""
    level: str = ""
    """Load of the comparison, in words."""

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 0 unless a race found a difference, or gave no answer."""
        if self.verdict is Verdict.OPEN:
            return RefusedError.exit_code
        return 1 if self.verdict is Verdict.DIFFERENT else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """Clients' view of a process that was reloaded."""

    hop: str
    asked: int
    lost: int
    """Requests without an answer, or with another status."""
    why: str = ""
    """Lost requests by kind: ``2 with status 5xx, 1 at connecting``; empty without any."""
    known: str = ""
    """Known loss of the server at a reload, a clause that README.md has too; empty if none was ever seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Successful checks of the exported files, and their performance."""

    units_verified: int | None
    """Number of units that systemd-analyze accepts; None if it is not installed."""
    checkers: tuple[str, ...]
    """The processes whose own checker accepted their files."""
    questions: int
    """Number of different requests with a right answer."""
    ready_s: float
    """Seconds from the first process to the first right answer."""
    container_healthy: bool = False
    """True if the image's own health check found the stack healthy."""
    reloads: tuple[Reloaded, ...] = ()
    """Reload of each process whose unit has one."""
    equivalence: Equivalence = Equivalence()
    """Result of the race of both."""

    @property
    def exit_code(self) -> int:
        """Exit code of the command; 1 also for requests lost at the reload of a server without a known loss."""
        return 1 if any(one.lost and not one.known for one in self.reloads) else self.equivalence.exit_code


def _looked_at(differences: Sequence[float], allowed: float) -> tuple[Verdict, Interval, int]:
    """Return the verdict of the planned looks, the ratio with the limits that prove it, and their number of blocks.

    ``differences`` are ln(this) − ln(that), one for each block that has both, at least one; ``allowed`` is the
    relative difference that does not matter, above 0. The looks are those of a check (`watched`), in both
    directions (a family of two): a difference counts once later blocks confirm it by themselves, since a few
    blocks during a change of the machine's speed could look like one. Limits within ``allowed`` mean equivalent.

    Source: Schuirmann 1987, A comparison of the two one-sided tests procedure and the power approach for assessing
    the equivalence of average bioavailability, Journal of Pharmacokinetics and Biopharmaceutics 15.
    """
    # a rate lower by this share is lower by 1 + allowed
    terms = Terms(allowance=allowed / (1 + allowed), limit=allowed / (1 + allowed))
    this, that = [math.exp(each) for each in differences], [1.0] * len(differences)
    directions = [
        (sign, watched(Values(response=Response.THROUGHPUT, base=base, head=head), terms, family=2, ended=False))
        for sign, base, head in ((-1, that, this), (1, this, that))
    ]
    sign, found = max(directions, key=lambda each: (each[1].state is State.SLOWER, each[1].alarm is not None))
    worse = found.figures
    assert worse is not None
    is_different = found.state is State.SLOWER
    half = worse.value - worse.low if is_different else worse.high - worse.value
    is_same = abs(worse.value) + half < math.log1p(allowed)
    verdict = Verdict.DIFFERENT if is_different else Verdict.EQUIVALENT if is_same else Verdict.OPEN
    return verdict, ratio_of(sign * worse.value, half), worse.last


class UntilKnown(Scheduling):
    """Rules of a race of both sides of a stack, which ends once it is known whether they are equivalent."""

    def __init__(self, stack: Stack, difference: float) -> None:
        self._stack, self._difference = stack, difference

    def decide(self, race: Race) -> Decisions:
        """Return whether it is known; both sides go on until then."""
        is_known = equivalence_of(race, self._stack, self._difference).verdict is not Verdict.OPEN
        return Decisions(settled=is_known, dropped=frozenset())


def equivalence_of(race: Race, stack: Stack, difference: float) -> Equivalence:
    """Return the answer after the blocks up to the look that gave it, or without one up to the last planned look.

    Nothing is decided between looks: blocks after the last one are left out, unless there was none yet.
    """
    race = counted(race)
    levels = measured_levels(race) if blocks_of(race) else []
    level = levels[headline_of(levels)] if levels else None
    differences = [] if level is None else _differences(level, stack)
    if level is None or not differences:
        return Equivalence(verdict=Verdict.OPEN, difference=difference)
    verdict, ratio, blocks = _looked_at(differences, difference)
    return Equivalence(
        verdict=verdict,
        difference=difference,
        ratio=ratio,
        blocks=blocks,
        could_have_seen=max(ratio.high, 1 / ratio.low) - 1 if ratio.low and ratio.high else None,
        level=level.load.named(level.workload),
    )


def _differences(level: MeasuredLevel, stack: Stack) -> list[float]:
    by_path = dict(zip(level.stacks, level.values, strict=True))
    original = by_path.get(side_path(stack.path, Side.ORIGINAL), ())
    exported = by_path.get(side_path(stack.path, Side.EXPORTED), ())
    pairs = zip(exported, original, strict=False)
    return [this - that for this, that in pairs if math.isfinite(this) and math.isfinite(that)]
