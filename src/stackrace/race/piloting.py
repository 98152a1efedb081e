"""What the blocks so far tell about how the rest of a race is best spent. Pure: nothing is measured."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..model.race import Race
from ..stats.pilot import Pilot, pilot
from .schedule import BETWEEN
from .turns import turns

__all__ = ["ENOUGH_BLOCKS", "FARTHEST", "PILOT_BLOCKS", "PRIOR_DEGREES", "between_of", "piloted"]

PILOT_BLOCKS = 3
"""The first blocks of a race are its pilot; each later one makes its estimates better …"""

ENOUGH_BLOCKS = 10
"""… up to here: the arithmetic grows with the cube of the launches, and races wait for it."""

PRIOR_DEGREES = 3.0
"""What was assumed before the pilot weighs as much as so many degrees of freedom: few tell a variance badly."""

FARTHEST = 100.0
"""The two variances are taken to differ by this factor at most, either way."""


def piloted(race: Race, level: tuple[str, str]) -> Pilot | None:
    """Return the variances within and between launches at ``level``, None before the pilot is over.

    All stacks count, the hidden twin among them: it is launched and loaded like any other.
    """
    own = [one for one in turns(race) if one.level == level]
    passes: dict[int, set[int]] = {}
    values: dict[tuple[str, int], dict[int, float]] = {}
    for one in own:
        passes.setdefault(one.block, set()).add(one.turn)
        values.setdefault((one.stack, one.block), {})[one.turn] = one.value
    if len(passes) < PILOT_BLOCKS:
        return None
    blocks = sorted(passes)[:ENOUGH_BLOCKS]
    stacks = dict.fromkeys(one.stack for one in own)
    return pilot([[_launch(values.get((stack, block), {}), passes[block]) for block in blocks] for stack in stacks])


def _launch(values: Mapping[int, float], passes: set[int]) -> list[float]:
    """Return a launch's values pass by pass, NaN where a pass has none of it; empty without any."""
    return [values.get(turn, math.nan) for turn in sorted(passes)] if values else []


def between_of(found: Pilot | None) -> float:
    """Return the variance between launches as a share of that between slices, for ``plan_block``.

    The logarithms of what the pilot saw and of ``BETWEEN`` are mixed: a ratio of two variances is known only as
    well as the worse of them. A few slices that happen to be alike then do not make all launches have a single
    one.
    """
    if found is None:
        return BETWEEN
    seen = found.between / found.within if found.within > 0 else FARTHEST
    seen = min(max(seen, 1 / FARTHEST), FARTHEST)
    weight = min(found.slices, found.launches)
    return math.exp((weight * math.log(seen) + PRIOR_DEGREES * math.log(BETWEEN)) / (weight + PRIOR_DEGREES))
