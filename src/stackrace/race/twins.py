"""The hidden twin: which stack runs twice under two names, and who takes part in a block."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from ..model.launch import Launch
from ..model.race import Race, RacePlan
from ..model.stack import Stack, twin_path

__all__ = ["came_up", "choice", "crew", "entrants"]


def choice(plan: RacePlan, among: Sequence[Stack]) -> Stack | None:
    """Return who of ``among`` is to run twice: the seed decides, so that nobody can pick a convenient one.

    It meets the first workload, the one that the answer speaks of, where anybody does. None where the plan wants
    no twin, or has a single stack, which is compared with nothing.
    """
    if not plan.twin or len(plan.stacks) < 2 or not among:
        return None
    first = plan.limits.get(plan.workloads[0].name)
    asked = [stack for stack in among if first is None or stack.path in first]
    # dice of its own: without the twin, and when another is chosen, all else is shuffled as before
    return random.Random(f"twin of {plan.seed}").choice(asked or list(among))


def entrants(plan: RacePlan) -> tuple[Stack, ...]:
    """Return who takes part in the first block: all stacks, and one of them twice where the plan wants that."""
    twin = choice(plan, plan.stacks)
    return plan.stacks if twin is None else (*plan.stacks, twin.twin)


def crew(racing: Sequence[Stack], plan: RacePlan, twin: str, given_up: Callable[[str], bool]) -> tuple[Stack, ...]:
    """Return who takes part in the next block: all still ``racing``, and the pair of ``twin``.

    The pair is the race's canary: dropped or not it stays to the end, unless it is ``given_up``.
    """
    pair = [one for stack in plan.stacks if stack.path == twin for one in (stack, stack.twin)]
    present = [stack for stack in pair if stack not in racing and not given_up(stack.path)]
    return (*racing, *present)


def came_up(race: Race) -> bool:
    """Tell whether both halves of the pair have been launched at least once."""
    return all(_launched(race.launches, path) for path in (race.twin, twin_path(race.twin)))


def _launched(launches: Sequence[Launch], path: str) -> bool:
    return any(launch.stack == path and launch.ready_s is not None for launch in launches)
