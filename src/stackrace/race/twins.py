"""The hidden twin: which stack runs twice under two names, for how long, and whether a race tells them apart."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..stacks.stack import Stack, twin_path
from ..stats.selection import family
from .levels import LevelKey, MeasuredLevel, measured_levels
from .plan import RacePlan
from .results.race import Race

TWIN_BLOCKS = 3
"""In so many blocks the pair shows whether the race finds differences where there are none; then it has done its
work, unless it differs."""

_ALPHA = 0.004
"""Each look's chance that equal stacks look different: the twins are looked at after every block."""


def choice(plan: RacePlan, among: Sequence[Stack]) -> Stack | None:
    """Return who of ``among`` is to run twice: the seed decides, so that nobody can pick a convenient one.

    It meets the first workload, the one that the answer speaks of, where anybody does. None where the plan wants
    no twin, or has a single stack, which is compared with nothing.
    """
    if not plan.twin or len(plan.stacks) < 2 or not among:
        return None
    first = plan.race.limits.get(plan.workloads[0].name)
    asked = [stack for stack in among if first is None or stack.path in first]
    # dice of its own: without the twin, and when another is chosen, all else is shuffled as before
    return random.Random(f"twin of {plan.race.seed}").choice(asked or list(among))


def entrants(plan: RacePlan) -> tuple[Stack, ...]:
    """Return who takes part in the first block: all stacks, and one of them twice where the plan wants that."""
    twin = choice(plan, plan.stacks)
    return plan.stacks if twin is None else (*plan.stacks, twin.twin)


def crew(racing: Sequence[Stack], plan: RacePlan, race: Race, given_up: Callable[[str], bool]) -> tuple[Stack, ...]:
    """Return who takes part in the next block: all still ``racing``, and the pair while it has something to show.

    Dropped or not, the pair stays until then, unless it is ``given_up``.
    """
    if not _at_work(race):
        return tuple(racing)
    pair = [half for stack in plan.stacks if stack.path == race.twin for half in (stack, stack.twin)]
    present = [stack for stack in pair if stack not in racing and not given_up(stack.path)]
    return (*racing, *present)


def replacement(plan: RacePlan, race: Race) -> Stack | None:
    """Return another stack to run twice where the pair never came up, of those that did; None where none is due."""
    if not race.twin or came_up(race):
        return None
    launched = {launch.stack for launch in race.launches if launch.ready_s is not None}
    return choice(plan, [stack for stack in plan.stacks if stack.path in launched and stack.path != race.twin])


def _at_work(race: Race) -> bool:
    """Tell whether the pair still has something to show; in a race that measures everything it always has."""
    if race.exhaustive or race.repeats is not None:
        return True
    return _shared_blocks(race) < TWIN_BLOCKS or twins_apart(race)


def came_up(race: Race) -> bool:
    """Tell whether both halves of the pair have been launched at least once."""
    return _shared_blocks(race) > 0 or all(_launched(race, path) for path in (race.twin, twin_path(race.twin)))


def _shared_blocks(race: Race) -> int:
    """Return in how many blocks both halves of the pair were launched."""
    return len(_launched(race, race.twin) & _launched(race, twin_path(race.twin)))


def _launched(race: Race, path: str) -> set[int]:
    return {launch.block for launch in race.launches if launch.stack == path and launch.ready_s is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinDifference:
    """The twin minus its original at one level, in ln units."""

    level: LevelKey
    difference: float
    half_width: float
    """Half the width of the simultaneous limits; infinite without any."""

    @property
    def differ(self) -> bool:
        return abs(self.difference) > self.half_width


def twins_apart(race: Race, *, blocks: int | None = None) -> bool:
    """Tell whether the twins differ at any level, in the first ``blocks`` blocks or in all."""
    return any(twins.differ for twins in twin_differences(race, blocks=blocks))


def twin_differences(race: Race, *, blocks: int | None = None) -> Iterator[TwinDifference]:
    """Give each level that both halves were measured at; their limits hold for all these levels at once."""
    levels = _levels_of_both(race, blocks)
    compared = (_compared(race, level, _ALPHA / len(levels)) for level in levels)
    yield from (twins for twins in compared if twins is not None)


def _levels_of_both(race: Race, blocks: int | None = None) -> list[MeasuredLevel]:
    if not race.twin:
        return []
    pair = {race.twin, twin_path(race.twin)}
    levels = measured_levels(race, blocks=blocks, beside=(twin_path(race.twin),))
    return [level for level in levels if pair <= set(level.stacks)]


def _compared(race: Race, level: MeasuredLevel, alpha: float) -> TwinDifference | None:
    """Compare the pair in a family of all stacks and the twin: None where the two share no block."""
    pairs = family(level.values, alpha)
    pair = level.stacks.index(twin_path(race.twin)), level.stacks.index(race.twin)
    if not pairs.blocks[pair]:
        return None
    return TwinDifference(
        level=level.key, difference=float(pairs.estimate[pair]), half_width=float(pairs.half_width[pair])
    )
