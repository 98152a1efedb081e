"""The race itself: blocks until the question is answered or the budget is spent."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from ..deploy.place import Place
from ..model.errors import InputError, InterruptedRace
from ..model.launch import FailureKind
from ..model.race import Ending, Race, RacePlan
from ..model.stack import Stack
from ..model.units import DURATION
from .block import Block
from .events import BlockEnded, Progress, RaceEnded, RaceStarted, Sink
from .ledger import Ledger
from .schedule import BlockPlan, Costs, least_budget_s, plan_block
from .standing import decisions

__all__ = ["run"]

FAILED_LAUNCHES = 2
"""A stack that fails so often in a row, before any slice, is not launched again."""


def run(
    plan: RacePlan,
    race: Race,
    place: Place,
    sink: Sink,
    *,
    begun_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Race:
    """Race ``plan`` on ``place``, telling ``sink`` everything as it happens; returns the finished race.

    ``race`` holds the plan's words and the host; ``begun_s`` is the moment (monotonic) from which the budget
    counts, now by default. An interruption (KeyboardInterrupt, InterruptedRace) ends the race with what was
    measured. Raises InputError when the budget does not hold even one block.
    """
    begun = clock() if begun_s is None else begun_s
    ledger = Ledger(race)
    shuffler = random.Random(plan.seed)
    sink(RaceStarted(race))
    ending = Ending.INTERRUPTED
    try:
        ending = _blocks(plan, place, ledger, sink, shuffler, begun, clock)
    except (KeyboardInterrupt, InterruptedRace):
        pass
    finally:
        # an error of ours must not leave the race open in the store either
        finished = ledger.end(ending, clock() - begun)
        sink(RaceEnded(ending, finished.elapsed_s))
    return finished


def _blocks(
    plan: RacePlan,
    place: Place,
    ledger: Ledger,
    sink: Sink,
    shuffler: random.Random,
    begun: float,
    clock: Callable[[], float],
) -> Ending:
    racing: list[Stack] = list(plan.stacks)
    costs = Costs(warmup_s=_warmup_cap_s(plan))
    number = 0
    _next(plan, racing, plan.budget_s - (clock() - begun), number, costs)  # refused before any of it is spent
    sink(Progress("calibrating the load engine", None))
    place.calibrate(plan.loads)
    while racing:
        remaining = plan.budget_s - (clock() - begun)
        block_plan = _next(plan, racing, remaining, number, costs)
        if block_plan is None:
            return Ending.BUDGET
        block = Block(
            number=number,
            plan=block_plan,
            loads=plan.loads,
            place=place,
            ledger=ledger,
            sink=sink,
            shuffler=shuffler,
            deadline_s=clock() + remaining - costs.stop_s,
            warmup_cap_s=_warmup_cap_s(plan),
            stop_s=costs.stop_s,
        )
        costs = block.run(racing)
        number += 1
        race = ledger.race
        sink(BlockEnded(number, race))
        seen = decisions(race)
        if seen.settled:
            return Ending.ANSWERED
        racing = [stack for stack in racing if stack.path not in seen.dropped and not _given_up(ledger, stack)]
    return Ending.EXHAUSTED


def _given_up(ledger: Ledger, stack: Stack) -> bool:
    """A stack that never became ready cost its whole timeout already; others get a second chance."""
    failures = ledger.failures_of(stack.path)
    return len(failures) >= FAILED_LAUNCHES or any(kind is FailureKind.NOT_READY for kind in failures)


def _next(plan: RacePlan, racing: list[Stack], remaining_s: float, done: int, costs: Costs) -> BlockPlan | None:
    block_plan = plan_block(
        stacks=len(racing),
        levels=len(plan.loads),
        remaining_s=remaining_s,
        done=done,
        costs=costs,
        fixed_slice_s=plan.slice_s,
    )
    if block_plan is None and done == 0:
        least = least_budget_s(stacks=len(racing), levels=len(plan.loads), costs=costs)
        raise InputError(
            f"--budget {DURATION.format(plan.budget_s)} is too short: {len(racing)} stacks at {len(plan.loads)} "
            f"load levels need {DURATION.format(least)} for a single block, and three blocks to say anything; "
            "give more time, fewer stacks or fewer levels"
        )
    return block_plan


def _warmup_cap_s(plan: RacePlan) -> float:
    """A thirtieth of a stack's share of the budget, from 0.5 s to the 20 s after which none will be steady."""
    return min(max(plan.budget_s / len(plan.stacks) / 30, 0.5), 20.0)
