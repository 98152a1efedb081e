"""Kinds of blocks: slices fitted to a budget, slices of cells that are chosen anew, counted runs."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...measure.workload import PageTime
from ...stacks.stack import Stack, original_path
from ..events import BlockStarted
from ..pacing.overhead import (
    STOP_S,
    Overhead,
    expected_overhead,
    overhead_of_launches,
    planned_launch_s,
    planned_overhead,
)
from ..pacing.pace import SLICE_S, SliceLengths, fixed_lengths, headline, heard, lengths_of, planned_lengths
from ..pacing.schedule import (
    MOST_BLOCKS,
    BlockPlan,
    Extent,
    block_s,
    extent_of,
    least_budget_s,
    passes_worth,
    plan_block,
    too_short_for,
    variance_within,
)
from ..plan import Cell, RacePlan
from ..results.race import Ending, Race
from .block import Block, WarmUp
from .resume import counted, spent_s
from .steps import Steps, shuffled, shuffler_of
from .twins import first_stacks

WARMUP_CAP_S = 1.5
"""The longest warm-up of a stack: many blocks of nearly warm stacks show more than few blocks of warm stacks."""

_SINGLE_BLOCKS = 3
"""Number of first blocks that may measure each cell once, which shows clear differences."""

MOST_PASSES = 4
_MOST_TIME = 0.5
"""Share of the time left that a block with more than one pass may take: other blocks must follow."""


class Blocks(ABC):
    """A kind of block: its contents and number. ``ending`` is the reason why there is no further block."""

    ending = Ending.BUDGET

    def __init__(self, plan: RacePlan) -> None:
        self._plan = plan

    @abstractmethod
    def check(self, remaining_s: float) -> None:
        """Raise InputError if not even one block is possible in ``remaining_s``, which may be infinite."""

    @abstractmethod
    def run_next(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Run one more block within ``remaining_s``; return False if there is none left."""


_OpenCells = Callable[[Race, Sequence[Cell]], Sequence[Cell]]
"""Function that chooses the cells still to be raced, after the race so far; choosing none ends the race."""


class Rounds(Blocks):
    """Blocks of slices that measure all open cells alike, until the budget holds no further block.

    Dropped cells leave their time to the rest, so later blocks are shorter and more of them fit. If few cells are
    left, launches take longer than their slices, so each cell is measured several times per launch.
    """

    def __init__(self, plan: RacePlan, open_cells: _OpenCells, *, opens_singly: bool = True) -> None:
        super().__init__(plan)
        assert plan.budget_s is not None
        self._open_cells, self._opens_singly = open_cells, opens_singly
        first = {cell.stack for cell in open_cells(plan.race, plan.cells(first_stacks(plan)))}
        expected = expected_overhead(plan.budget_s, max(len(first), 1), launch_s=planned_launch_s(plan))
        self._overhead = replace(
            expected,
            warmup_s=min(expected.warmup_s, WARMUP_CAP_S),
            # the stacks of a batch stop together; only the last batch's stop adds time at the end
            stop_s=expected.stop_s if plan.together is None else min(expected.stop_s, STOP_S * plan.together),
        )
        self._slice_s = SLICE_S if plan.slice_s is None else plan.slice_s

    def check(self, remaining_s: float) -> None:
        """Raise InputError if ``remaining_s`` is too short for a block of all opening cells."""
        cells = self._open_cells(self._plan.race, self._plan.cells(first_stacks(self._plan)))
        if remaining_s < self._block_s(cells) + self._overhead.stop_s:
            raise too_short_for(self._plan, self._block_s(cells) + self._overhead.stop_s, remaining_s)

    def run_next(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Run one more block within ``remaining_s``; return False if none fits."""
        cells = tuple(self._open_cells(steps.ledger.race, self._plan.cells(racing)))
        if not cells or remaining_s < self._block_s(cells) + self._overhead.stop_s:
            return False
        single = self._opens_singly and steps.number < _SINGLE_BLOCKS
        passes = 1 if single else self._passes(cells, remaining_s)
        plan = BlockPlan(slice_s=self._slice_s, passes=passes, side_slice_s=self._slice_s, blocks_left=1)
        steps.deadline_s = time.monotonic() + remaining_s - self._overhead.stop_s
        block = Block(
            plan=plan,
            planner=_Fixed(fixed_lengths(self._slice_s)),
            cells=cells,
            steps=steps,
            shuffler=shuffler_of(self._plan.race.seed, steps.number),
            warmup_cap_s=WARMUP_CAP_S,
            stop_s=self._overhead.stop_s,
            alike=True,
            bound_bytes=self._plan.race.cores.memory_bytes,
            together=self._plan.together,
        )
        self._overhead = block.run()
        return True

    def _passes(self, cells: Sequence[Cell], remaining_s: float) -> int:
        """Return the passes of a block: as many as its launches justify, and as fit into ``_MOST_TIME``."""
        overhead_s = self._overhead.empty_block_s(len({cell.stack for cell in cells}))
        pass_s = self._block_s(cells) - overhead_s
        fitting = int((_MOST_TIME * (remaining_s - self._overhead.stop_s) - overhead_s) / pass_s)
        return max(min(passes_worth(overhead_s, pass_s), MOST_PASSES, fitting), 1)

    def _block_s(self, cells: Sequence[Cell]) -> float:
        stacks = len({cell.stack for cell in cells})
        return block_s(Extent(stacks=stacks, headline=len(cells)), self._overhead, 1, self._slice_s)


@dataclass(frozen=True, slots=True)
class _Fixed:
    """Plan of a block that nothing changes."""

    lengths: SliceLengths

    def hear(self, cell: Cell, warm: WarmUp) -> None:
        """Ignore a warm-up."""

    def plan_with(self, overhead: Overhead) -> None:
        """Keep the present plan."""


@dataclass(frozen=True, slots=True)
class _Replanning:
    """Plan of a block within ``remaining_s`` from its start."""

    slices: Slices
    steps: Steps
    racing: Sequence[Stack]
    remaining_s: float

    @property
    def lengths(self) -> SliceLengths:
        return self.slices.lengths

    def hear(self, cell: Cell, warm: WarmUp) -> None:
        self.slices.hear(self.racing, cell, warm)

    def plan_with(self, overhead: Overhead) -> BlockPlan | None:
        steps = self.steps
        return self.slices.plan_with(overhead, self.racing, self.remaining_s, steps.ledger.race, steps.number)


class Slices(Blocks):
    """Blocks of slices, each planned for the rest of the budget, until the budget holds no further block.

    In a resumed race, earlier launches show the cost of the next ones.
    """

    def __init__(self, plan: RacePlan) -> None:
        super().__init__(plan)
        self.lengths = planned_lengths(plan)
        self._pages: dict[tuple[str, str], PageTime] = {}
        expected = planned_overhead(plan, self.lengths)
        self._overhead = overhead_of_launches(counted(plan.race).launches, expected)

    def check(self, remaining_s: float) -> None:
        """Raise InputError if ``remaining_s`` is too short for even one block."""
        self._next(first_stacks(self._plan), remaining_s, self._plan.race, 0)

    def run_next(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Run one more block within ``remaining_s``; return False if none fits."""
        self.lengths = self._lengths_of(racing)
        block_plan = self._next(racing, remaining_s, steps.ledger.race, steps.number)
        if block_plan is None:
            return False
        steps.deadline_s = time.monotonic() + remaining_s - self._overhead.stop_s
        block = Block(
            plan=block_plan,
            planner=_Replanning(self, steps, racing, remaining_s),
            cells=self._cells(racing, sides=block_plan.sides),
            steps=steps,
            shuffler=shuffler_of(self._plan.race.seed, steps.number),
            warmup_cap_s=planned_overhead(self._plan, self.lengths).warmup_s,
            stop_s=self._overhead.stop_s,
            alike=self._plan.race.exhaustive,
            bound_bytes=self._plan.race.cores.memory_bytes,
        )
        self._overhead = block.run()
        return True

    def _cells(self, racing: Sequence[Stack], *, sides: bool) -> Sequence[Cell]:
        cells = self._plan.cells(racing)
        if sides or self._plan.race.exhaustive:
            return cells
        level = headline(cells).level
        return [cell for cell in cells if cell.level == level]

    def hear(self, racing: Sequence[Stack], cell: Cell, warm: WarmUp) -> None:
        """Use what a stack's warm-up showed about its pages for this and its next launches."""
        known = self._page_of(cell)
        cores = len(self._plan.race.cores.stack_cores)
        page = heard(known, cell.load.concurrency, warm.answers, warm.answered_s, cores)
        if page is not known:
            self._pages[original_path(cell.stack.path), cell.workload.name] = page
            self.lengths = self._lengths_of(racing)

    def _page_of(self, cell: Cell) -> PageTime:
        return self._pages.get((original_path(cell.stack.path), cell.workload.name), cell.workload.page)

    def _lengths_of(self, racing: Sequence[Stack]) -> SliceLengths:
        """Return the lengths of slices for the stacks that still race; the slowest one decides."""
        plan = self._plan
        if not self._pages:
            return self.lengths
        cells = plan.cells(racing)
        own = [replace(cell, workload=replace(cell.workload, page=self._page_of(cell))) for cell in cells]
        return lengths_of(own, len(plan.race.cores.stack_cores), alike=plan.race.exhaustive, fixed_s=plan.slice_s)

    def _next(self, racing: Sequence[Stack], remaining_s: float, race: Race, done: int) -> BlockPlan | None:
        block_plan = self.plan_with(self._overhead, racing, remaining_s, race, done)
        if block_plan is None and done == 0:
            least_s = least_budget_s(self._extent(racing), self._overhead, self.lengths)
            raise too_short_for(self._plan, least_s, remaining_s)
        return block_plan

    def plan_with(
        self, overhead: Overhead, racing: Sequence[Stack], remaining_s: float, race: Race, done: int
    ) -> BlockPlan | None:
        """Return the plan of the next block, after ``done`` others; None if none fits."""
        return plan_block(
            self._extent(racing),
            remaining_s=remaining_s,
            done=done,
            overhead=overhead,
            lengths=self.lengths,
            most=self._plan.most_blocks or MOST_BLOCKS,
            within=variance_within(race),
        )

    def _extent(self, racing: Sequence[Stack]) -> Extent:
        """Return the extent of a pass: exhaustive races measure all levels alike, others the headline first."""
        return extent_of(self._plan.cells(racing), alike=self._plan.race.exhaustive)


_RUN_LIMIT_S = 600.0
"""The longest run of a number of requests: with a server that hangs it might never end."""


class Runs(Blocks):
    """Blocks of runs, as many as requested if there is time.

    A block has one run of each cell, in shuffled order. If ``open_cells`` is given, only the cells that it chooses
    are run.
    """

    def __init__(self, plan: RacePlan, repeats: int, open_cells: _OpenCells | None = None) -> None:
        super().__init__(plan)
        self._repeats = repeats
        self._spent_s = spent_s(plan.race)
        self._open_cells = open_cells
        self.ending = Ending.COMPLETED

    def check(self, remaining_s: float) -> None:
        """Accept any budget: any number of runs may be made."""

    def run_next(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Run one more block within ``remaining_s``, which may be infinite; return False at the end."""
        if steps.number >= self._repeats or self.ending is Ending.BUDGET:
            return False
        begun_s = time.monotonic()
        steps.deadline_s = begun_s + remaining_s
        cells: Sequence[Cell] = self._plan.cells(racing)
        if self._open_cells is not None:
            cells = self._open_cells(steps.ledger.race, cells)
        order = shuffled(cells, shuffler_of(self._plan.race.seed, steps.number))
        stacks = tuple(dict.fromkeys(cell.stack.path for cell in order))
        # later blocks take as long as earlier ones, within the budget
        done = steps.number
        eta_s = min(self._spent_s / done * (self._repeats - done), remaining_s) if done else None
        steps.sink(BlockStarted(done, stacks, eta_s))
        for cell in order:
            if time.monotonic() >= steps.deadline_s:
                self.ending = Ending.BUDGET
                break
            if not steps.ledger.given_up(cell.stack.path):
                _run(cell, steps)
        self._spent_s += time.monotonic() - begun_s
        return True


def _run(cell: Cell, steps: Steps) -> None:
    try:
        steps.launch(cell.stack)
        limit_s = min(_RUN_LIMIT_S, steps.deadline_s - time.monotonic())
        with steps.accounting([cell]):
            if cell.stack in steps.up and limit_s > 0:
                steps.announce(cell)
                observation = steps.measure(cell, cell.load, 0.0, limit_s)
                # a run is never repeated beyond the requested repeats
                steps.wait_for_quiet(steps.book(cell, replace(observation, limit_s=limit_s), may_redo=False))
    finally:
        if steps.up:
            steps.retire()
            # the next cold start is measured: nothing else may run
            steps.pending_stops.finish()
