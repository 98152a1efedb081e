"""What a race of exported files against their original says: equivalent, different, or not yet known. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..base.numbers import Interval
from ..stacks.stack import Side, Stack, side_path
from ..stats.equivalence import looked_at, ratio_limits
from ..stats.values.equivalence import Equivalence, Verdict
from .decisions import Decisions
from .levels import MeasuredLevel, blocks_of, headline_of, measured_levels
from .results.race import Race
from .resume import counted

__all__ = ["equivalence_of", "until_known"]


def until_known(stack: Stack, difference: float) -> Callable[[Race], Decisions]:
    """Return what ends a race of both sides of ``stack`` once it is known whether they are equivalent."""

    def decide(race: Race) -> Decisions:
        is_known = equivalence_of(race, stack, difference).verdict is not Verdict.OPEN
        return Decisions(settled=is_known, dropped=frozenset())

    return decide


def equivalence_of(race: Race, stack: Stack, difference: float) -> Equivalence:
    """Return the answer of the blocks up to the look that gave it, without one up to the last planned look.

    Between looks nothing is decided: what came after the last one is left out, unless there was none yet.
    """
    race = counted(race)
    levels = measured_levels(race) if blocks_of(race) else []
    if not levels:
        return Equivalence(verdict=Verdict.OPEN, difference=difference, ratio=None, blocks=0)
    level = levels[headline_of(levels)]
    differences = _differences(level, stack)
    if not differences:
        return Equivalence(verdict=Verdict.OPEN, difference=difference, ratio=None, blocks=0)
    verdict, blocks = looked_at(differences, difference)
    ratio = ratio_limits(differences[:blocks])
    return Equivalence(
        verdict=verdict,
        difference=difference,
        ratio=ratio,
        blocks=blocks,
        level=level.load.named(level.workload),
        could_have_seen=_apart(ratio),
    )


def _differences(level: MeasuredLevel, stack: Stack) -> list[float]:
    by_path = dict(zip(level.stacks, level.values, strict=True))
    original = by_path.get(side_path(stack.path, Side.ORIGINAL), ())
    exported = by_path.get(side_path(stack.path, Side.EXPORTED), ())
    pairs = zip(exported, original, strict=False)
    return [this - that for this, that in pairs if math.isfinite(this) and math.isfinite(that)]


def _apart(ratio: Interval) -> float | None:
    """Return the smallest difference within which the limits lie."""
    if ratio.low is None or ratio.high is None or ratio.low <= 0:
        return None
    return max(ratio.high, 1 / ratio.low) - 1
