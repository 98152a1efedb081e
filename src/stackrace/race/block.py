"""A block of slices: launch every racing stack, warm up, measure all cells in shuffled order, stop everything."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from statistics import fmean

from ..deploy.place import REST_LOOK_S
from ..model.race import Cell
from ..model.stack import Stack
from .events import BlockStarted, Progress
from .schedule import REWARM_S, BlockPlan, Costs, Extent, least_budget_s
from .steps import Steps, shuffled
from .warmup import warm_up

__all__ = ["Block", "extent", "headline"]

REDO_SHARE = 4
"""At most one in so many cells of a pass is measured again."""


def headline(cells: Sequence[Cell]) -> Cell:
    """Return a cell of the level that the answer speaks of: the first workload at its highest concurrency."""
    first = cells[0].workload.name
    return max((cell for cell in cells if cell.workload.name == first), key=lambda cell: cell.load.concurrency)


def extent(cells: Sequence[Cell]) -> Extent:
    """Return how much there is to do in one pass over ``cells``."""
    level = headline(cells).level
    ahead = sum(cell.level == level for cell in cells)
    return Extent(stacks=len({cell.stack for cell in cells}), headline=ahead, sides=len(cells) - ahead)


@dataclass(slots=True, kw_only=True)
class Block:
    """The steps of one block; ``run`` takes them in order.

    No slice ends after the steps' deadline. ``stop_s`` is what stopping is expected to take. ``replan`` returns the
    same block's plan by what launches, warm-ups and rests turned out to cost.
    """

    plan: BlockPlan
    replan: Callable[[Costs], BlockPlan | None]
    cells: Sequence[Cell]
    steps: Steps
    shuffler: random.Random
    warmup_cap_s: float
    stop_s: float
    rests_s: list[float] = field(default_factory=list)

    def run(self) -> Costs:
        """Run the block; returns what it spent beside its slices."""
        order = list(dict.fromkeys(cell.stack for cell in self.cells))
        self.shuffler.shuffle(order)
        steps = self.steps
        left_s = steps.deadline_s - time.monotonic()
        steps.sink(BlockStarted(steps.number, tuple(stack.path for stack in order), left_s))
        try:
            begun = time.monotonic()
            for stack in order:
                steps.launch(stack)
            launched = time.monotonic()
            for stack in list(steps.up):
                self._warm_up(stack)
            warmed = time.monotonic()
            spent = Costs(
                launch_s=(launched - begun) / len(order),
                warmup_s=(warmed - launched) / len(order),
                # the deadline leaves room for this block's stopping; another would be stopped, too, perhaps later
                stop_s=2 * self.stop_s,
                rest_s=self._rest_s,
            )
            self.plan = self.replan(spent) or self.plan
            self._measure(spent)
        finally:
            stopping = time.monotonic()
            steps.retire()
        return replace(spent, stop_s=time.monotonic() - stopping, rest_s=self._rest_s)

    def _rest(self) -> None:
        """Let no stack answer at the cost of the next what its last load left behind."""
        begun = time.monotonic()
        self.steps.place.rest()
        self.rests_s.append(time.monotonic() - begun)

    @property
    def _rest_s(self) -> float:
        """How long a rest takes on average, as far as there were any."""
        return fmean(self.rests_s) if self.rests_s else REST_LOOK_S

    def _warm_up(self, stack: Stack) -> None:
        """Warm up with each workload that the stack meets, at its highest concurrency; they share the time."""
        steps = self.steps
        self._rest()
        steps.sink(Progress("warming up", stack.path))
        own = [cell for cell in self.cells if cell.stack == stack]
        names = dict.fromkeys(cell.workload.name for cell in own)
        busiest = [headline([cell for cell in own if cell.workload.name == name]) for name in names]
        spent_s = sum(warm_up(steps.place, cell, self.warmup_cap_s / len(busiest)) for cell in busiest)
        steps.ledger.enter(replace(steps.ledger.launch(steps.up[stack]), warmup_s=spent_s))
        steps.withdraw_if_dead(stack)

    def _measure(self, spent: Costs) -> None:
        """Take the planned passes, and more of them if what is left would not hold another block anyway."""
        up = self.steps.up
        racing = [cell for cell in self.cells if cell.stack in up]
        another_s = least_budget_s(extent(racing), spent) if racing else 0.0
        for number in count():
            another_fits = time.monotonic() + another_s < self.steps.deadline_s
            if not up or (number >= self.plan.passes and another_fits):
                return
            wanted = [cell for cell in self.cells if number < self.plan.side_passes or self._is_headline(cell)]
            order = shuffled([cell for cell in wanted if cell.stack in up], self.shuffler)
            if not order or not self._pass(order):
                return

    def _pass(self, order: Sequence[Cell]) -> bool:
        """Measure the cells in this order; tells whether there was time for all."""
        pending = deque(order)
        redos = max(len(order) // REDO_SHARE, 1)
        while pending:
            cell = pending.popleft()
            if cell.stack not in self.steps.up:
                continue
            self._rest()
            length_s = self.plan.slice_s if self._is_headline(cell) else self.plan.side_slice_s
            if time.monotonic() + REWARM_S + length_s > self.steps.deadline_s:
                return False
            self.steps.announce(cell)
            timed = replace(cell.load, duration_s=length_s, requests=None)
            seen = self.steps.place.load(cell.stack, cell.workload, timed, REWARM_S)
            if self.steps.book(cell, seen, may_redo=redos > 0):
                redos -= 1
                pending.append(cell)
        return True

    def _is_headline(self, cell: Cell) -> bool:
        return cell.level == headline(self.cells).level
