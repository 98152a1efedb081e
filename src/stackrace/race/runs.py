"""Blocks of runs, as the published comparisons measured: every cell on a fresh launch, cold, in one piece."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..stacks.stack import Stack
from .events import BlockStarted
from .plan import Cell, RacePlan
from .results.race import Ending
from .resume import spent_s
from .steps import Steps, shuffled, shuffler_of
from .strategies import OpenCells

__all__ = ["RUN_LIMIT_S", "Runs"]

RUN_LIMIT_S = 600.0
"""A run of a number of requests is cut off after so long: against a server that hangs it might never end."""


@dataclass(slots=True, kw_only=True)
class _RunBlock:
    """One run of each cell, in shuffled order: launch (which asks every URL once), measure, retire."""

    cells: Sequence[Cell]
    steps: Steps
    shuffler: random.Random
    eta_s: float | None = None
    """How long all that is left of the race may take, None while nothing tells."""

    def run(self) -> bool:
        """Make the runs; tells whether there was time for all of them."""
        order = shuffled(self.cells, self.shuffler)
        steps = self.steps
        stacks = tuple(dict.fromkeys(cell.stack.path for cell in order))
        steps.sink(BlockStarted(steps.number, stacks, self.eta_s))
        for cell in order:
            if time.monotonic() >= steps.deadline_s:
                return False
            if not steps.ledger.given_up(cell.stack.path):
                self._once(cell)
        return True

    def _once(self, cell: Cell) -> None:
        steps = self.steps
        try:
            steps.launch(cell.stack)
            if cell.stack in steps.up:
                steps.announce(cell)
                limit_s = max(min(RUN_LIMIT_S, steps.deadline_s - time.monotonic()), 0.0)
                observation = steps.measure(cell, cell.load, 0.0, limit_s)
                # a run is what it is: there is no second one beside the repeats that were asked for
                steps.wait_for_quiet(steps.book(cell, replace(observation, limit_s=limit_s), may_redo=False))
        finally:
            if steps.up:
                steps.retire()
                # a cold start is measured: nothing else may be under way
                steps.pending_stops.finish()


class Runs:
    """Decides whether another block of runs is made: as many as were asked for, time permitting.

    Where ``open_cells`` chooses among the cells, those it leaves out are not run any more.
    """

    def __init__(self, plan: RacePlan, repeats: int, open_cells: OpenCells | None = None) -> None:
        self._plan = plan
        self._repeats = repeats
        self._spent_s = spent_s(plan.race)
        self._open_cells = open_cells
        self.ending = Ending.COMPLETED

    def check(self, remaining_s: float) -> None:
        """Any number of runs may be made: nothing is refused."""

    def another(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Make one more block within ``remaining_s``, infinite where nothing bounds it; False when it is over."""
        if steps.number >= self._repeats or self.ending is Ending.BUDGET:
            return False
        steps.deadline_s = time.monotonic() + remaining_s
        begun_s = time.monotonic()
        cells = self._plan.cells(racing)
        block = _RunBlock(
            cells=cells if self._open_cells is None else self._open_cells(steps.ledger.race, cells),
            steps=steps,
            shuffler=shuffler_of(self._plan.race.seed, steps.number),
            eta_s=self._eta_s(steps.number, remaining_s),
        )
        if not block.run():
            self.ending = Ending.BUDGET
        self._spent_s += time.monotonic() - begun_s
        return True

    def _eta_s(self, done: int, remaining_s: float) -> float | None:
        """The blocks to come take as long as those before did, if the budget allows them."""
        return min(self._spent_s / done * (self._repeats - done), remaining_s) if done else None
