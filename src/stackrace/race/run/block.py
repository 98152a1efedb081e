"""A block of slices: launch every racing stack, warm up, measure all cells in shuffled order, stop everything."""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Protocol

from ...deploy.machine import WARM_BIN_S, Enough, Machine
from ...stacks.stack import Stack, original_path
from ...validity.preflight import MEMORY_SHARE
from ...validity.registry import worth_repeating
from ..events import Activity, BlockStarted, Progress
from ..pacing.overhead import Overhead, OverheadMeter
from ..pacing.pace import SliceLengths, headline
from ..pacing.schedule import BlockPlan, extent_of, least_budget_s
from ..plan import Cell
from .steps import Steps, shuffled
from .stopwatch import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Memory that may be used, and memory that stacks use."""

    room_bytes: float = math.inf
    """Free memory of the machine with no stack up."""
    known: Mapping[str, int] = field(default_factory=dict)
    """The largest size of each stack so far, in bytes by path; a twin counts as its original."""
    bound_bytes: int | None = None
    """Memory limit of each stack, None for no limit."""
    alone: frozenset[str] = frozenset()
    """Paths of the stacks of which only one can be up, since they write to the same places."""

    def fits(self, up: Sequence[str], next_stack: str) -> bool:
        """Return True if ``next_stack`` may be launched beside the stacks that are ``up``; all are paths.

        A stack with a limit counts with all of it. An unknown stack counts as the largest known one. A stack alone
        always fits, because no batch is smaller. Two stacks of ``alone`` never fit together.
        """
        if self._is_alone(next_stack) and any(map(self._is_alone, up)):
            return False
        return not up or sum(map(self._stack_bytes, (*up, next_stack))) <= MEMORY_SHARE * self.room_bytes

    def batch_size(self, stacks: Sequence[str]) -> int:
        """Return the number of ``stacks`` to have up at once, so that all batches are about equally large."""
        batches, up = 1, list[str]()
        for stack in stacks:
            if not self.fits(up, stack):
                batches, up = batches + 1, []
            up.append(stack)
        return math.ceil(len(stacks) / batches)

    def _is_alone(self, path: str) -> bool:
        return original_path(path) in self.alone

    def _stack_bytes(self, path: str) -> int:
        if self.bound_bytes is not None:
            return self.bound_bytes
        return self.known.get(original_path(path), max(self.known.values(), default=0))


_REDO_SHARE = 4
"""At most one of this many cells of a pass is measured again."""


class Planner(Protocol):
    """Plan of a block, corrected by what the block itself shows."""

    @property
    def lengths(self) -> SliceLengths:
        """Intended lengths of slices, after the warm-ups so far."""

    def hear(self, cell: Cell, warm: WarmUp) -> None:
        """Use the result of a warm-up."""

    def plan_with(self, overhead: Overhead) -> BlockPlan | None:
        """Return the block's plan for the measured cost of launches, warm-ups and rests; None to keep it."""


@dataclass(slots=True, kw_only=True)
class Block:
    """The steps of one block; ``run`` takes them in order.

    No slice ends after the steps' deadline. If not all stacks fit into memory, the steps are taken batch by batch.
    Pairs are compared across batches, too, so the twins are distributed like all others.
    """

    plan: BlockPlan
    planner: Planner
    cells: Sequence[Cell]
    steps: Steps
    shuffler: random.Random
    warmup_cap_s: float
    """The longest warm-up of a stack."""
    stop_s: float
    """Expected time of the stops."""
    alike: bool = False
    """True if all levels are equally important."""
    bound_bytes: int | None = None
    """Memory limit of each stack; None: no limit."""
    together: int | None = None
    """The most stacks that may be up at once; None for as many as memory holds."""
    meter: OverheadMeter = field(default_factory=OverheadMeter)

    def run(self) -> Overhead:
        """Run the block; return its time beside its slices."""
        order = list(dict.fromkeys(cell.stack for cell in self.cells))
        self.shuffler.shuffle(order)
        steps, end_s = self.steps, self.steps.deadline_s
        steps.sink(BlockStarted(steps.number, tuple(stack.path for stack in order), end_s - time.monotonic()))
        waiting, batches = deque(order), 0
        memory = self._memory()
        if memory.alone or self._batch_size(memory, order) < len(order):
            # if memory is short, earlier stacks must release theirs; a stack that can run only once must be gone
            steps.pending_stops.finish()
            memory = self._memory()
        most = self._batch_size(memory, order)
        while waiting and (batches == 0 or not self._late):
            ahead = len(waiting)
            try:
                with steps.accounting(self.cells):
                    begun_s = time.monotonic()
                    self._bring_up(waiting, memory, most)
                    up_s = time.monotonic()
                    self.meter.launching_s += up_s - begun_s
                    # share the remaining time fairly with later batches
                    steps.deadline_s = end_s - (end_s - time.monotonic()) * len(waiting) / ahead
                    steps.is_share = bool(waiting)
                    for stack in list(steps.up):
                        if not self._late:
                            self._warm_up(stack)
                    self.meter.warming_s += time.monotonic() - up_s
                    alone = not waiting and batches == 0
                    self._measure(len(order), to_the_end=alone)
            finally:
                steps.retire()
                if waiting:
                    steps.pending_stops.finish()
                steps.deadline_s = end_s
                batches += 1
        return self.meter.overhead(len(order) - len(waiting), self._stop_s)

    def _memory(self) -> Memory:
        steps = self.steps
        return Memory(
            room_bytes=steps.machine.room_bytes(),
            known=steps.ledger.sizes,
            bound_bytes=self.bound_bytes,
            alone=frozenset(original_path(cell.stack.path) for cell in self.cells if cell.stack.is_alone),
        )

    def _batch_size(self, memory: Memory, order: Sequence[Stack]) -> int:
        """Return the number of stacks that run at the same time: as many as fit in memory, at most ``together``."""
        fitting = memory.batch_size([stack.path for stack in order])
        if self.together is None or fitting <= self.together:
            return fitting
        return math.ceil(len(order) / math.ceil(len(order) / self.together))

    @property
    def _stop_s(self) -> float:
        return self.stop_s if self.steps.pending_stops.stop_s is None else self.steps.pending_stops.stop_s

    def _bring_up(self, waiting: deque[Stack], memory: Memory, most: int) -> None:
        """Launch the next stacks of ``waiting``: at least one, up to ``most`` while there is room and time."""
        steps, launched = self.steps, 0
        while waiting and launched < most and memory.fits([stack.path for stack in steps.up], waiting[0].path):
            if launched and self._late:
                return
            steps.launch(waiting.popleft())
            launched += 1

    @property
    def _late(self) -> bool:
        """True if nothing can be measured any more: further preparation would only exceed the budget."""
        return time.monotonic() >= self.steps.deadline_s

    def _warm_up(self, stack: Stack) -> None:
        """Warm up with each workload of the stack, at its highest concurrency; they share the time."""
        steps = self.steps
        steps.rest()
        steps.sink(Progress(Activity.WARMING_UP, original_path(stack.path)))
        own = [cell for cell in self.cells if cell.stack == stack]
        names = dict.fromkeys(cell.workload.name for cell in own)
        busiest = [headline([cell for cell in own if cell.workload.name == name]) for name in names]
        with steps.watch.during(Phase.WARMING):
            cap_s = self.warmup_cap_s / len(busiest)
            least_s = min(self.planner.lengths.response_s, cap_s)
            heard = [(cell, warm_up(steps.machine, cell, cap_s, least_s=least_s)) for cell in busiest]
        for cell, warm in heard:
            self.planner.hear(cell, warm)
        spent_s = sum(warm.spent_s for _, warm in heard)
        steps.ledger.enter(replace(steps.ledger.launch(steps.up[stack]), warmup_s=spent_s))
        steps.withdraw_if_dead(stack)

    def _measure(self, stacks: int, *, to_the_end: bool) -> None:
        """Make the planned passes; with ``to_the_end``, make more of them if the rest of the time holds no further
        block.

        Each pass shows how long rests take, and so corrects the plan of the next pass. If the block of ``stacks``
        stacks has several batches, the plan stays, because all stacks must be measured alike.
        """
        self.steps.pending_stops.finish()
        up = self.steps.up
        racing = [cell for cell in self.cells if cell.stack in up]
        for number in count():
            overhead = self.meter.overhead(stacks, self._stop_s)
            if to_the_end:
                self.plan = self.planner.plan_with(overhead) or self.plan
            next_s = 0.0
            if racing:
                # the next block has no levels beside the answer's own
                ahead = extent_of([cell for cell in racing if self._is_headline(cell)], alike=self.alike)
                next_s = least_budget_s(ahead, overhead, self.planner.lengths)
            next_fits = time.monotonic() + next_s < self.steps.deadline_s
            if not up or (number >= self.plan.passes and (next_fits or not to_the_end)):
                return
            wanted = [cell for cell in self.cells if number == 0 or self._is_headline(cell)]
            order = shuffled([cell for cell in wanted if cell.stack in up], self.shuffler)
            if not order or not self._run_pass(order):
                return

    def _run_pass(self, order: Sequence[Cell]) -> bool:
        pending = deque(order)
        redos = max(len(order) // _REDO_SHARE, 1)
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
            observation = self.steps.measure(cell, timed, rewarm_s, side=not ahead)
            verdict = self.steps.book(cell, observation, may_redo=redos > 0)
            self.meter.add_gap(time.monotonic() - begun_s - length_s)
            if self.steps.wait_for_quiet(verdict):
                pending.append(cell)
            elif redos > 0 and worth_repeating(verdict.findings):
                redos -= 1
                pending.append(cell)
        return True

    def _is_headline(self, cell: Cell) -> bool:
        return self.alike or cell.level == headline(self.cells).level


_SHORT_S = 1.0
"""Warm-up time below which no stretch is long enough to be called steady: then throughput must only stop rising.
Fresh stacks reach their speed after 0.1 to 0.2 s: docs/decisions/0024-duty-cycle.md."""
_LEAST_BINS = 3
_LOOK_BINS = 4
"""Bins between tests of steady throughput, which take some computing."""
_RISING = 0.1
_BINS_PER_POINT = 2
"""Bins of 100 ms joined to one of 200 ms: short enough to see a change, long enough to be calm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUp:
    """Result of a warm-up."""

    spent_s: float
    answers: int
    """Right answers."""
    answered_s: float
    """Seconds up to the last answer; the whole warm-up if there was none."""


def warm_up(machine: Machine, cell: Cell, cap_s: float, *, least_s: float = 0.0) -> WarmUp:
    """Send a cell's load until the throughput is steady or ``cap_s`` is over; return the result.

    The warm-up takes at least ``least_s``, the time of an answer: nothing is known before the first one.
    """
    load = replace(cell.load, duration_s=cap_s, requests=None)
    least_bins = max(_LEAST_BINS, math.ceil(least_s / WARM_BIN_S))
    enough: Enough = (lambda counts: not rising(counts)) if cap_s < _SHORT_S else _steady(cap_s)
    seen: Sequence[int] = ()

    def look(counts: Sequence[int]) -> bool:
        nonlocal seen
        seen = counts
        return machine.failure_of(cell.stack) is not None or (len(counts) >= least_bins and enough(counts))

    spent_s = machine.warm_up(cell.stack, cell.workload, load, look)
    last = max((index for index, count in enumerate(seen) if count), default=len(seen) - 1)
    return WarmUp(spent_s=spent_s, answers=sum(seen), answered_s=(last + 1) * WARM_BIN_S)


def _steady(cap_s: float) -> Enough:
    from ...stats.warmup import steadiness

    width_s = _BINS_PER_POINT * WARM_BIN_S
    least_s = min(3.0, cap_s / 2)

    def steady(counts: Sequence[int]) -> bool:
        if len(counts) % _LOOK_BINS:
            return False
        rates = [sum(counts[at : at + _BINS_PER_POINT]) / width_s for at in range(0, len(counts), _BINS_PER_POINT)]
        return steadiness(rates, width_s, least_s=least_s).steady

    return steady


def rising(counts: Sequence[int]) -> bool:
    """Return True if the last bin has more answers than the one before, by a tenth and by more than chance.

    Chance is two standard deviations of the difference of two Poisson counts. With too few bins, or no answer in
    the last one, it counts as rising.
    """
    if len(counts) < _LEAST_BINS or not counts[-1]:
        return True
    was, is_ = counts[-2:]
    return is_ - was > max(_RISING * was, 2 * math.sqrt(is_ + was))
