"""Blocks of slices for cells that are chosen anew before each block: as many blocks as there is time for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..stacks.stack import Stack
from .block import Block
from .overhead import STOP_S, expected_overhead, planned_launch_s
from .pace import SLICE_S, fixed_lengths
from .plan import Cell, RacePlan
from .results.race import Ending, Race
from .schedule import BlockPlan, Extent, block_s, passes_worth, too_short_for
from .steps import Steps, shuffler_of
from .twins import entrants

__all__ = ["OpenCells", "Rounds"]

OpenCells = Callable[[Race, Sequence[Cell]], Sequence[Cell]]
"""Returns those of the cells that are still to be raced, after the race so far; none of them ends the race."""

WARMUP_CAP_S = 1.5
"""A stack's warm-up ends here: more blocks of stacks that are nearly warm tell more than few of others."""

_SINGLE_BLOCKS = 3
"""The first blocks measure each cell once: what is clear shows in them. Not those of a tuning, which has a launch
or two of most configurations."""

MOST_PASSES = 4
_MOST_TIME = 0.5
"""No second pass is made where a block would take more of the time left: other blocks are to follow."""


class Rounds:
    """Makes blocks of slices for each cell that is still open, alike, until the budget holds no other.

    What is not wanted any more leaves its time to the rest, so that later blocks are shorter and there are more.
    Where few cells are left, launching costs more than they do, and each is measured several times a launch.
    """

    def __init__(self, plan: RacePlan, open_cells: OpenCells) -> None:
        assert plan.budget_s is not None
        self._plan = plan
        self._open_cells = open_cells
        first = {cell.stack for cell in open_cells(plan.race, plan.cells(entrants(plan)))}
        expected = expected_overhead(plan.budget_s, max(len(first), 1), launch_s=planned_launch_s(plan))
        self._overhead = replace(
            expected,
            warmup_s=min(expected.warmup_s, WARMUP_CAP_S),
            # those of a batch stop together, and only the last batch's stop is not made up for
            stop_s=expected.stop_s if plan.together is None else min(expected.stop_s, STOP_S * plan.together),
        )
        self._slice_s = SLICE_S if plan.slice_s is None else plan.slice_s
        self.ending = Ending.BUDGET

    def check(self, remaining_s: float) -> None:
        """Refuse, before any of it is spent, a budget that does not hold a block of all cells that open it."""
        cells = self._open_cells(self._plan.race, self._plan.cells(entrants(self._plan)))
        if remaining_s < self._block_s(cells) + self._overhead.stop_s:
            raise too_short_for(self._plan, self._block_s(cells) + self._overhead.stop_s, remaining_s)

    def another(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Make one more block within ``remaining_s``; False when none fits."""
        cells = tuple(self._open_cells(steps.ledger.race, self._plan.cells(racing)))
        if not cells or remaining_s < self._block_s(cells) + self._overhead.stop_s:
            return False
        single = steps.number < _SINGLE_BLOCKS and all(part.opens_singly for part in self._plan.race.parts.known())
        passes = 1 if single else self._passes(cells, remaining_s)
        plan = BlockPlan(slice_s=self._slice_s, passes=passes, side_slice_s=self._slice_s, blocks_left=1)
        steps.deadline_s = time.monotonic() + remaining_s - self._overhead.stop_s
        block = Block(
            plan=plan,
            replan=lambda overhead: plan,
            lengths=lambda: fixed_lengths(self._slice_s),
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
        """Return the passes of a block: as many as its launches are worth, and fit into ``_MOST_TIME``."""
        beside_s = self._overhead.empty_block_s(len({cell.stack for cell in cells}))
        pass_s = self._block_s(cells) - beside_s
        fitting = int((_MOST_TIME * (remaining_s - self._overhead.stop_s) - beside_s) / pass_s)
        return max(min(passes_worth(beside_s, pass_s), MOST_PASSES, fitting), 1)

    def _block_s(self, cells: Sequence[Cell]) -> float:
        """Return what a block of one pass takes."""
        stacks = len({cell.stack for cell in cells})
        return block_s(Extent(stacks=stacks, headline=len(cells)), self._overhead, 1, self._slice_s)
