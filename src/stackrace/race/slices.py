"""Blocks of slices, fitted to a budget: each block's overhead tells how the rest of the time is best spent."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ..measure.workload import PageTime
from ..stacks.stack import Stack, original_path
from .block import Block
from .overhead import Overhead, expected_overhead, overhead_of_launches, planned_launch_s, warmup_cap_s
from .pace import SliceLengths, headline, heard, lengths_of, planned_lengths
from .plan import Cell, RacePlan
from .results.race import Ending
from .resume import counted
from .schedule import MOST_BLOCKS, BlockPlan, Extent, extent_of, least_budget_s, plan_block, too_short_for
from .steps import Steps, shuffler_of
from .twins import entrants
from .warmup import WarmUp

__all__ = ["Slices"]


class Slices:
    """Decides how the next block of slices is cut, or that the budget holds no other.

    What was launched before an interruption tells what the next launches will cost.
    """

    def __init__(self, plan: RacePlan) -> None:
        assert plan.budget_s is not None
        self._plan = plan
        self._lengths = planned_lengths(plan)
        self._pages: dict[tuple[str, str], PageTime] = {}
        stacks, most = len(plan.stacks), plan.most_blocks
        expected = expected_overhead(plan.budget_s, stacks, self._lengths, planned_launch_s(plan), most_blocks=most)
        self._overhead = overhead_of_launches(counted(plan.race).launches, expected)
        self.ending = Ending.BUDGET

    def check(self, remaining_s: float) -> None:
        """Refuse, before any of it is spent, a budget that does not hold even one block."""
        self._next(entrants(self._plan), remaining_s, 0)

    def another(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Make one more block within ``remaining_s``; False when none fits."""
        self._lengths = self._lengths_of(racing)
        block_plan = self._next(racing, remaining_s, steps.number)
        if block_plan is None:
            return False
        steps.deadline_s = time.monotonic() + remaining_s - self._overhead.stop_s
        block = Block(
            plan=block_plan,
            replan=lambda overhead: self._plan_with(overhead, racing, remaining_s, steps.number),
            lengths=lambda: self._lengths,
            cells=self._cells(racing, sides=block_plan.sides),
            steps=steps,
            shuffler=shuffler_of(self._plan.race.seed, steps.number),
            warmup_cap_s=self._warmup_cap_s,
            warmed=partial(self._hear, racing),
            stop_s=self._overhead.stop_s,
            alike=self._plan.race.exhaustive,
            bound_bytes=self._plan.race.cores.memory_bytes,
        )
        self._overhead = block.run()
        return True

    def _cells(self, racing: Sequence[Stack], *, sides: bool) -> Sequence[Cell]:
        """Return what a block measures: a stack without any cell in it is not even launched."""
        cells = self._plan.cells(racing)
        if sides or self._plan.race.exhaustive:
            return cells
        level = headline(cells).level
        return [cell for cell in cells if cell.level == level]

    @property
    def _warmup_cap_s(self) -> float:
        plan = self._plan
        assert plan.budget_s is not None
        return warmup_cap_s(plan.budget_s, len(plan.stacks), self._lengths.response_s, most_blocks=plan.most_blocks)

    def _hear(self, racing: Sequence[Stack], cell: Cell, warm: WarmUp) -> None:
        """Take what a stack's warm-up told of its pages for this and its next launches."""
        known = self._page_of(cell)
        cores = len(self._plan.race.cores.stack_cores)
        page = heard(known, cell.load.concurrency, warm.answers, warm.answered_s, cores)
        if page is not known:
            self._pages[original_path(cell.stack.path), cell.workload.name] = page
            self._lengths = self._lengths_of(racing)

    def _page_of(self, cell: Cell) -> PageTime:
        return self._pages.get((original_path(cell.stack.path), cell.workload.name), cell.workload.page)

    def _lengths_of(self, racing: Sequence[Stack]) -> SliceLengths:
        """Return how long slices are to be for the stacks that still race, the slowest of which decides."""
        plan = self._plan
        if not self._pages:
            return self._lengths
        cells = plan.cells(racing)
        own = [replace(cell, workload=replace(cell.workload, page=self._page_of(cell))) for cell in cells]
        return lengths_of(own, len(plan.race.cores.stack_cores), alike=plan.race.exhaustive, fixed_s=plan.slice_s)

    def _next(self, racing: Sequence[Stack], remaining_s: float, done: int) -> BlockPlan | None:
        block_plan = self._plan_with(self._overhead, racing, remaining_s, done)
        if block_plan is None and done == 0:
            least_s = least_budget_s(self._extent(racing), self._overhead, self._lengths)
            raise too_short_for(self._plan, least_s, remaining_s)
        return block_plan

    def _plan_with(
        self, overhead: Overhead, racing: Sequence[Stack], remaining_s: float, done: int
    ) -> BlockPlan | None:
        return plan_block(
            self._extent(racing),
            remaining_s=remaining_s,
            done=done,
            overhead=overhead,
            lengths=self._lengths,
            most=self._plan.most_blocks or MOST_BLOCKS,
        )

    def _extent(self, racing: Sequence[Stack]) -> Extent:
        """An exhaustive race is to tell as much of every level; in others the answer's own comes first."""
        return extent_of(self._plan.cells(racing), alike=self._plan.race.exhaustive)
