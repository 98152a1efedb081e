"""A block of slices: launch every racing stack, warm up, measure all cells in shuffled order, stop everything."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from ..model.race import Cell
from ..model.stack import Stack, original_path
from .activity import Activity
from .batches import Memory
from .events import BlockStarted, Progress
from .schedule import REST_S, REWARM_S, BlockPlan, Costs, Extent
from .steps import Steps, shuffled
from .stopwatch import Phase
from .warmup import warm_up

__all__ = ["Block", "extent", "headline"]

REDO_SHARE = 4
"""At most one in so many cells of a pass is measured again."""


def headline(cells: Sequence[Cell]) -> Cell:
    """Return a cell of the level that the answer speaks of: the first workload at its highest concurrency."""
    first = cells[0].workload.name
    return max((cell for cell in cells if cell.workload.name == first), key=lambda cell: cell.load.concurrency)


def extent(cells: Sequence[Cell], *, alike: bool = False) -> Extent:
    """Return how much there is to do in one pass over ``cells``; where they are all ``alike`` none is beside."""
    level = headline(cells).level
    ahead = sum(alike or cell.level == level for cell in cells)
    return Extent(stacks=len({cell.stack for cell in cells}), headline=ahead, sides=len(cells) - ahead)


class _Span:
    """Adds up the seconds spent within it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._since_s = 0.0

    def __enter__(self) -> None:
        self._since_s = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.monotonic() - self._since_s


@dataclass(slots=True)
class _Spent:
    """What a block spends beside its slices, over all of its batches.

    ``between_s`` is what lay before the ``gaps`` slices so far, without the usual re-warm.
    """

    launching: _Span = field(default_factory=_Span)
    warming: _Span = field(default_factory=_Span)
    between_s: float = 0.0
    gaps: int = 0
    batches: int = 0

    def costs(self, stacks: int, stop_s: float) -> Costs:
        """Return them per stack; ``stop_s`` stands for what is not stopped yet."""
        return Costs(
            launch_s=self.launching.seconds / stacks,
            warmup_s=self.warming.seconds / stacks,
            stop_s=stop_s,
            rest_s=max(self.between_s / self.gaps, 0.0) if self.gaps else REST_S,
        )


@dataclass(slots=True, kw_only=True)
class Block:
    """The steps of one block; ``run`` takes them in order.

    No slice ends after the steps' deadline. ``least_s`` returns what the shortest block of an extent takes,
    ``alike`` tells that no level comes before others, ``response_s`` how long an answer takes under load;
    ``stop_s`` is what stopping is expected to take, ``bound_bytes`` the memory that each stack may use; ``replan``
    returns the block's plan by what launches, warm-ups and rests turned out to cost. Where not all stacks fit into
    memory the steps are taken batch by batch; pairs are compared across batches, too, so the twins are dealt out
    like everybody else.
    """

    plan: BlockPlan
    replan: Callable[[Costs], BlockPlan | None]
    least_s: Callable[[Extent, Costs], float]
    cells: Sequence[Cell]
    steps: Steps
    shuffler: random.Random
    warmup_cap_s: float
    stop_s: float
    response_s: float = 0.0
    alike: bool = False
    bound_bytes: int | None = None
    spent: _Spent = field(default_factory=_Spent)

    def run(self) -> Costs:
        """Run the block; returns what it spent beside its slices."""
        order = list(dict.fromkeys(cell.stack for cell in self.cells))
        self.shuffler.shuffle(order)
        steps, end_s = self.steps, self.steps.deadline_s
        steps.sink(BlockStarted(steps.number, tuple(stack.path for stack in order), end_s - time.monotonic()))
        spent, waiting = self.spent, deque(order)
        memory = self._memory()
        if memory.batch_size([stack.path for stack in order]) < len(order):
            # where memory is short, what those before still hold counts
            steps.leaving.finish()
            memory = self._memory()
        most = memory.batch_size([stack.path for stack in order])
        while waiting and (spent.batches == 0 or not self._late):
            ahead = len(waiting)
            try:
                with spent.launching:
                    self._bring_up(waiting, memory, most)
                # what is left is shared fairly with the batches to come
                steps.deadline_s = end_s - (end_s - time.monotonic()) * len(waiting) / ahead
                with spent.warming:
                    for stack in list(steps.up):
                        if not self._late:
                            self._warm_up(stack)
                alone = not waiting and spent.batches == 0
                self._measure(len(order), to_the_end=alone)
            finally:
                steps.retire()
                if waiting:
                    steps.leaving.finish()
                steps.deadline_s = end_s
                spent.batches += 1
        return spent.costs(len(order) - len(waiting), self._stop_s)

    def _memory(self) -> Memory:
        steps = self.steps
        return Memory(room_bytes=steps.place.room_bytes(), known=steps.ledger.sizes, bound_bytes=self.bound_bytes)

    @property
    def _stop_s(self) -> float:
        """How long stopping takes: as it last did."""
        return self.stop_s if self.steps.leaving.stop_s is None else self.steps.leaving.stop_s

    def _bring_up(self, waiting: deque[Stack], memory: Memory, most: int) -> None:
        """Launch the next of those ``waiting``: at least one, ``most`` while there is room and time."""
        steps, launched = self.steps, 0
        while waiting and launched < most and memory.fits([one.path for one in steps.up], waiting[0].path):
            if launched and self._late:
                return
            steps.launch(waiting.popleft())
            launched += 1

    @property
    def _late(self) -> bool:
        """Whether nothing can be measured any more: what is prepared now would only overrun the budget."""
        return time.monotonic() >= self.steps.deadline_s

    def _warm_up(self, stack: Stack) -> None:
        """Warm up with each workload that the stack meets, at its highest concurrency; they share the time."""
        steps = self.steps
        steps.rest()
        steps.sink(Progress(Activity.WARMING_UP, original_path(stack.path)))
        own = [cell for cell in self.cells if cell.stack == stack]
        names = dict.fromkeys(cell.workload.name for cell in own)
        busiest = [headline([cell for cell in own if cell.workload.name == name]) for name in names]
        with steps.watch.during(Phase.WARMING):
            cap_s = self.warmup_cap_s / len(busiest)
            spent_s = sum(warm_up(steps.place, cell, cap_s, least_s=self.response_s) for cell in busiest)
        steps.ledger.enter(replace(steps.ledger.launch(steps.up[stack]), warmup_s=spent_s))
        steps.withdraw_if_dead(stack)

    def _measure(self, stacks: int, *, to_the_end: bool) -> None:
        """Take the planned passes; more of them ``to_the_end`` if what is left would not hold another block anyway.

        How long rests take shows in the passes, so each one mends the plan of the next; not where the block of
        ``stacks`` stacks has several batches, each of which is to be measured alike.
        """
        self.steps.leaving.finish()
        up = self.steps.up
        racing = [cell for cell in self.cells if cell.stack in up]
        for number in count():
            spent = self.spent.costs(stacks, self._stop_s)
            if to_the_end:
                self.plan = self.replan(spent) or self.plan
            another_s = 0.0
            if racing:
                # the next block has no levels beside the answer's own
                ahead = extent([cell for cell in racing if self._is_headline(cell)], alike=self.alike)
                another_s = self.least_s(ahead, spent)
            another_fits = time.monotonic() + another_s < self.steps.deadline_s
            if not up or (number >= self.plan.passes and (another_fits or not to_the_end)):
                return
            wanted = [cell for cell in self.cells if number == 0 or self._is_headline(cell)]
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
            begun_s = time.monotonic()
            self.steps.rest()
            ahead = self._is_headline(cell)
            length_s = self.plan.slice_s if ahead else self.plan.side_slice_s
            rewarm_s = self.steps.rewarm_s(cell)
            if time.monotonic() + rewarm_s + length_s > self.steps.deadline_s:
                return False
            self.steps.announce(cell)
            timed = replace(cell.load, duration_s=length_s, requests=None)
            seen = self.steps.measure(cell, timed, rewarm_s, side=not ahead)
            if self.steps.book(cell, seen, may_redo=redos > 0):
                redos -= 1
                pending.append(cell)
            self.spent.between_s += time.monotonic() - begun_s - length_s - REWARM_S
            self.spent.gaps += 1
        return True

    def _is_headline(self, cell: Cell) -> bool:
        return self.alike or cell.level == headline(self.cells).level
