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
from ...race.results.race import Race
from ...race.run.resume import counted
from ...race.run.scheduling import Scheduling
from ...stacks.stack import Side, Stack, side_path
from ...stats.summary import intervals


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


LOOKS = (4, 6, 9, 13, 19, 28, 40, 57, 80, 113, 160)
"""Numbers of blocks after which a decision is possible."""

_ALPHA = 0.05
"""Probability, over all looks, of calling two equivalent that differ by as much as matters."""


def _ratio_limits(differences: Sequence[float]) -> Interval:
    """Return the ratio with the limits for a single look: exp(m ± t·√(v/n)).

    ``differences`` are ln(this) − ln(that), one for each block that has both, at least one and no gaps. t is the
    quantile at 1 − ``_ALPHA``/K of each side, for K looks (Bonferroni). So over all looks together, two one-sided
    tests call a difference of δ or more equivalent in at most ``_ALPHA`` of all proofs. The limits are numbers from
    two blocks on, else None.

    Source: Schuirmann 1987, A comparison of the two one-sided tests procedure and the power approach for assessing
    the equivalence of average bioavailability, Journal of Pharmacokinetics and Biopharmaceutics 15; Dunn 1961.
    """
    return intervals([differences], confidence=1 - 2 * _ALPHA / len(LOOKS))[0]


def _looked_at(differences: Sequence[float], allowed: float) -> tuple[Verdict, int]:
    """Return the verdict of the planned looks, and the number of ``differences`` behind it.

    ``differences`` are ln(this) − ln(that), block by block, without gaps; before the first look all count.
    ``allowed`` is the relative difference that does not matter, above 0. Limits within it mean equivalent at once.
    Limits beyond it raise an alarm, which the blocks after it must confirm by themselves at a later look: a few
    blocks during a change of the machine's speed could look like a difference.
    """
    alarm, look = 0, len(differences)
    for look in (each for each in LOOKS if each <= len(differences)):
        side = _side(differences[:look], allowed)
        if side == 0:
            return Verdict.EQUIVALENT, look
        if alarm and side and _side(differences[alarm:look], allowed) == side:
            return Verdict.DIFFERENT, look
        alarm = alarm or (look if side else 0)
    return Verdict.OPEN, look


def _side(differences: Sequence[float], allowed: float) -> int | None:
    """Return 0 if both limits lie within the allowed difference, 1 if above, −1 if below, else None."""
    ratio, least, most = _ratio_limits(differences), 1 / (1 + allowed), 1 + allowed
    low, high = ratio.low or 0.0, ratio.high or math.inf
    if least <= low and high <= most:
        return 0
    return 1 if low > most else -1 if high < least else None


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
    verdict, blocks = _looked_at(differences, difference)
    ratio = _ratio_limits(differences[:blocks])
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
