"""Blocks of slices, fitted to a budget: each block's costs tell how the rest of the time is best spent."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from ..model.errors import InputError
from ..model.launch import Launch
from ..model.numbers import about
from ..model.race import Cell, Ending, RacePlan
from ..model.stack import Stack
from ..model.units import DURATION
from .block import Block, extent, headline
from .pace import Lengths, hands_of, lengths_of
from .schedule import FEWEST_BLOCKS, BlockPlan, Costs, Extent, least_budget_s, plan_block
from .steps import Steps, shuffler_of
from .twins import entrants

__all__ = ["Slices", "guess", "planned_lengths", "shortest_s", "too_short"]

STOP_S = 0.5
"""What stopping is taken to cost per stack until a block has been stopped: stacks stop side by side, but what they
wrote is read one by one. On two busy cores two stacks took 1 s, and 4.6 s where one had to be asked twice."""


class Slices:
    """Decides how the next block of slices is cut, or that the budget holds no other.

    ``earlier`` are launches made before an interruption: they tell what the next ones will cost.
    """

    def __init__(self, plan: RacePlan, earlier: Sequence[Launch] = ()) -> None:
        self._plan = plan
        self._lengths = planned_lengths(plan)
        self._costs = _costs(earlier, guess(self._budget_s, len(plan.stacks), self._lengths))
        self.ending = Ending.BUDGET

    def check(self, remaining_s: float) -> None:
        """Refuse, before any of it is spent, a budget that does not hold even one block."""
        self._next(entrants(self._plan), remaining_s, 0)

    def another(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Make one more block within ``remaining_s``; False when none fits."""
        block_plan = self._next(racing, remaining_s, steps.number)
        if block_plan is None:
            return False
        steps.deadline_s = time.monotonic() + remaining_s - self._costs.stop_s
        block = Block(
            plan=block_plan,
            replan=lambda costs: self._plan_with(costs, racing, remaining_s, steps.number),
            cells=self._cells(racing, sides=block_plan.sides),
            steps=steps,
            shuffler=shuffler_of(self._plan.seed, steps.number),
            least_s=self._least_s,
            warmup_cap_s=_warmup_cap_s(self._budget_s, len(self._plan.stacks), self._lengths.response_s),
            stop_s=self._costs.stop_s,
            response_s=self._lengths.response_s,
            alike=self._plan.exhaustive,
            bound_bytes=self._plan.cores.memory_bytes,
        )
        self._costs = block.run()
        return True

    def _cells(self, racing: Sequence[Stack], *, sides: bool) -> Sequence[Cell]:
        """Return what a block measures: a stack without any cell in it is not even launched."""
        cells = self._plan.cells(racing)
        if sides or self._plan.exhaustive:
            return cells
        level = headline(cells).level
        return [cell for cell in cells if cell.level == level]

    def _next(self, racing: Sequence[Stack], remaining_s: float, done: int) -> BlockPlan | None:
        block_plan = self._plan_with(self._costs, racing, remaining_s, done)
        if block_plan is None and done == 0:
            plan = self._plan
            raise too_short(
                self._budget_s,
                self._least_s(self._extent(racing), self._costs),
                stacks=len(plan.stacks),
                workloads=len(plan.workloads),
                levels=len(plan.loads),
                twin=len(racing) > len(plan.stacks),
                before_s=self._budget_s - remaining_s,
            )
        return block_plan

    def _plan_with(self, costs: Costs, racing: Sequence[Stack], remaining_s: float, done: int) -> BlockPlan | None:
        return plan_block(
            self._extent(racing),
            remaining_s=remaining_s,
            done=done,
            costs=costs,
            slice_s=self._lengths.slice_s,
            side_slice_s=self._lengths.side_s,
            fixed_slice_s=self._plan.slice_s,
        )

    def _least_s(self, ahead: Extent, costs: Costs) -> float:
        return shortest_s(self._plan, ahead, costs)

    def _extent(self, racing: Sequence[Stack]) -> Extent:
        """An exhaustive race is to tell as much of every level; in others the answer's own comes first."""
        return extent(self._plan.cells(racing), alike=self._plan.exhaustive)

    @property
    def _budget_s(self) -> float:
        assert self._plan.budget_s is not None
        return self._plan.budget_s


def planned_lengths(plan: RacePlan) -> Lengths:
    """Return how long slices of ``plan`` need to be, as long as nobody says how long they are."""
    return lengths_of(plan.cells(plan.stacks), hands_of(plan.stacks, plan.cores), alike=plan.exhaustive)


def shortest_s(plan: RacePlan, ahead: Extent, costs: Costs) -> float:
    """Return what the shortest block of ``plan`` takes that measures ``ahead``."""
    lengths = planned_lengths(plan)
    return least_budget_s(ahead, costs, plan.slice_s, slice_s=lengths.slice_s, side_slice_s=lengths.side_s)


def guess(budget_s: float, stacks: int, lengths: Lengths | None = None) -> Costs:
    """Return what a block of ``stacks`` stacks may cost, before any of them was launched.

    Slow pages, whose slices have other ``lengths``, also take longer to warm up, and their stacks to rest.
    """
    needed = lengths or Lengths()
    few = Costs(warmup_s=_warmup_cap_s(budget_s, stacks, needed.response_s))
    return replace(few, stop_s=max(few.stop_s, STOP_S * stacks), rest_s=few.rest_s + needed.queue_s)


def _costs(earlier: Sequence[Launch], guessed: Costs) -> Costs:
    """Return what launches of the last block cost, what nobody knows as ``guessed``."""
    last = max((launch.block for launch in earlier), default=0)
    up = [launch for launch in earlier if launch.block == last and launch.ready_s is not None]
    if not up:
        return guessed
    return replace(
        guessed,
        launch_s=fmean(launch.ready_s or 0.0 for launch in up),
        warmup_s=fmean(one.warmup_s for one in up),
    )


def _warmup_cap_s(budget_s: float, stacks: int, response_s: float) -> float:
    """A thirtieth of a stack's share of the budget, from 0.5 s or one answer's time to the 20 s after which none
    will be steady."""
    return min(max(budget_s / stacks / 30, 0.5, response_s), 20.0)


def too_short(
    budget_s: float,
    least_s: float,
    *,
    stacks: int,
    workloads: int,
    levels: int,
    twin: bool = False,
    before_s: float = 0.0,
) -> InputError:
    """Return the refusal of a budget that does not hold a single block, which takes ``least_s``.

    ``before_s`` of it are spent already: getting ready counts, but for what is installed or built.
    """
    meeting = f" with {workloads} workloads" if workloads > 1 else ""
    size = f"{_many(stacks, 'stack')}{meeting} at {_many(levels, 'load level')}"
    spent = f" beside the {about(before_s)} that getting ready took" if before_s >= 1 else ""
    return InputError(
        f"--budget {DURATION.format(budget_s)} is too short: a single block of {size} needs "
        f"{DURATION.format(least_s)}{spent}, and the {FEWEST_BLOCKS} that an answer takes at least about "
        f"{about(before_s + FEWEST_BLOCKS * least_s)}; give more time, fewer stacks or fewer levels"
        + (", or --no-twin" if twin else "")
    )


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
