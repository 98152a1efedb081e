"""What the blocks so far tell about how the rest of a race is best spent. Pure: nothing is measured."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..model.race import Race
from ..stats.pilot import Pilot, pilot
from .schedule import BETWEEN
from .turns import turns

__all__ = ["ENOUGH_BLOCKS", "PILOT_BLOCKS", "between_of", "piloted"]

PILOT_BLOCKS = 3
"""The first blocks of a race are its pilot; each later one makes its estimates better …"""

ENOUGH_BLOCKS = 10
"""… up to here: the arithmetic grows with the cube of the launches, and races wait for it."""

PRIOR_LAUNCHES = 3.0
"""What was assumed before the pilot weighs as much as so many launches: a variance from few is a guess."""

MOST_BETWEEN = 100.0
"""Above this, slices tell nothing that their launch does not."""


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
    """Return the variance between launches as a share of that between slices, for ``plan_block``."""
    if found is None:
        return BETWEEN
    if found.within <= 0:
        return MOST_BETWEEN
    mixed = (found.launches * found.between / found.within + PRIOR_LAUNCHES * BETWEEN) / (
        found.launches + PRIOR_LAUNCHES
    )
    return min(mixed, MOST_BETWEEN)
