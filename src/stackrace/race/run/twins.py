"""The hidden twin: the stack that runs twice under two names, for how long, and whether the two differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from ...stacks.stack import Stack, twin_path
from ...stats.contrasts import contrasts
from ...stats.limits import critical, exp
from ...validity.races import TwinPair
from ..judge.levels import measured_levels, where
from ..plan import RacePlan
from ..results.race import Race

TWIN_BLOCKS = 3
"""Blocks in which the twins show whether the race finds differences where there are none; then they leave, unless
they differ."""

_ALPHA = 0.004
"""Chance at each look that equal stacks look different: the twins are compared after every block."""


def choice(plan: RacePlan, among: Sequence[Stack]) -> Stack | None:
    """Return the stack of ``among`` to run twice: the seed decides, so that nobody can pick a convenient one.

    The stack gets the first workload, which the headline belongs to, if any stack does. None if the plan wants no
    twin, or has a single stack, which has no rival.
    """
    if not plan.twin or len(plan.stacks) < 2 or not among:
        return None
    first = plan.race.limits.get(plan.workloads[0].name)
    asked = [stack for stack in among if first is None or stack.path in first]
    # its own generator: the choice of a twin must not change any other shuffle
    return random.Random(f"twin of {plan.race.seed}").choice(asked or list(among))


def first_stacks(plan: RacePlan) -> tuple[Stack, ...]:
    """Return the stacks of the first block: all, and one of them twice if the plan wants a twin."""
    twin = choice(plan, plan.stacks)
    return plan.stacks if twin is None else (*plan.stacks, twin.twin)


def next_stacks(
    racing: Sequence[Stack], plan: RacePlan, race: Race, given_up: Callable[[str], bool]
) -> tuple[Stack, ...]:
    """Return the stacks of the next block: all still ``racing``, and the twins as long as they are needed.

    Twins are needed for ``TWIN_BLOCKS`` common blocks, and longer if they differ; in exhaustive races and runs
    until the end. Until then they stay even if they were dropped, but not if they are ``given_up``.
    """
    is_measured = not race.exhaustive and race.repeats is None and _shared_blocks(race) >= TWIN_BLOCKS
    if is_measured and not twins_differ(race):
        return tuple(racing)
    pair = [half for stack in plan.stacks if stack.path == race.twin for half in (stack, stack.twin)]
    present = [stack for stack in pair if stack not in racing and not given_up(stack.path)]
    return (*racing, *present)


def replacement(plan: RacePlan, race: Race) -> Stack | None:
    """Return another stack to run twice, among the stacks that started, if the twins did not both start; else
    None."""
    if not race.twin or came_up(race):
        return None
    launched = {launch.stack for launch in race.launches if launch.ready_s is not None}
    return choice(plan, [stack for stack in plan.stacks if stack.path in launched and stack.path != race.twin])


def came_up(race: Race) -> bool:
    """Return True if both twins have started at least once."""
    return _shared_blocks(race) > 0 or all(
        _launched_blocks(race, path) for path in (race.twin, twin_path(race.twin))
    )


def _shared_blocks(race: Race) -> int:
    return len(_launched_blocks(race, race.twin) & _launched_blocks(race, twin_path(race.twin)))


def _launched_blocks(race: Race, path: str) -> set[int]:
    return {launch.block for launch in race.launches if launch.stack == path and launch.ready_s is not None}


def twins_differ(race: Race, *, blocks: int | None = None) -> bool:
    """Return True if the twins differ at any level, in the first ``blocks`` blocks or in all."""
    return any(pair.differ for pair in twin_pairs(race, blocks=blocks))


def twin_pairs(race: Race, *, blocks: int | None = None) -> Iterator[TwinPair]:
    """Yield the comparison of the twins at each level where both were measured; the limits hold for all levels
    together.

    Each pair belongs to a family of all stacks and the twin; levels without a block of both are skipped.
    """
    if not race.twin:
        return
    original, twin = race.twin, twin_path(race.twin)
    measured = measured_levels(race, blocks=blocks, extra=(twin,))
    levels = [level for level in measured if {original, twin} <= set(level.stacks)]
    for level in levels:
        pairs = contrasts(level.values).family(critical, len(level.values), _ALPHA / len(levels))
        pair = level.stacks.index(twin), level.stacks.index(original)
        if pairs.blocks[pair]:
            ratio, half = float(pairs.estimate[pair]), float(pairs.half_width[pair])
            yield TwinPair(where=where(level.key), ratio=exp(ratio), low=exp(ratio - half), high=exp(ratio + half))
