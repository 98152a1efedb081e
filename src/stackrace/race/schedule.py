"""How a budget in time becomes blocks, passes and slices. Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

__all__ = [
    "FEWEST_BLOCKS",
    "MOST_BLOCKS",
    "MOST_PASSES",
    "REST_S",
    "REWARM_S",
    "SLICE_S",
    "BlockPlan",
    "Costs",
    "Extent",
    "block_s",
    "least_budget_s",
    "passes_worth",
    "plan_block",
]

REWARM_S = 0.1
"""Load sent before each slice and not recorded, so that a slice starts on warm connections and caches; more where
answers are slow (``rewarm``). docs/decisions/0024-duty-cycle.md has the measurement."""

REST_S = 0.06
"""What else lies between two slices until that was measured: the look whether stacks rest, the canary, counters."""

SLICE_S = 0.2
"""The usual slice, where the page needs no longer one. Where the machine's speed flickers a longer one tells no
more: docs/decisions/0030-short-slices-many-turns.md has the measurement."""

LEAST_SHARE = 0.6
"""Longer slices, of slow pages, may be shortened to so much of what the page needs."""

BETWEEN = 0.1
"""The variance between launches that is supposed, as a share of that between slices."""

MOST_PASSES = 8
MOST_BLOCKS = 40

FEWEST_BLOCKS = 2
"""A budget must hold so many, since one launch says nothing about the next."""

WANTED_BLOCKS = 5
"""Passes and slices give way for the sake of so many blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a block spends beside its slices, in seconds: per launch, per warm-up, and for stopping all its stacks.

    ``rest_s`` is what lies between two slices beside the re-warm: coming to rest, the probe, checks.
    """

    launch_s: float = 1.5
    warmup_s: float = 1.0
    stop_s: float = 1.5
    rest_s: float = REST_S

    @property
    def between_s(self) -> float:
        """What lies between two slices."""
        return self.rest_s + REWARM_S

    def of(self, stacks: int) -> float:
        """Return the seconds one block of ``stacks`` stacks spends without a single slice.

        The stacks of the block before stop while this one's start and warm up.
        """
        return max(stacks * (self.launch_s + self.warmup_s), self.stop_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much there is to do in one pass.

    ``headline`` counts the cells that the answer speaks of, at least one, ``sides`` all others.
    """

    stacks: int
    headline: int
    sides: int = 0

    @property
    def cells(self) -> int:
        return self.headline + self.sides


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """The next block: each cell of the headline level is measured ``passes`` times for ``slice_s`` seconds.

    Those of other levels are measured once for ``side_slice_s`` where ``sides``. ``blocks_left`` counts this
    block, too.
    """

    slice_s: float
    passes: int
    blocks_left: int
    side_slice_s: float
    sides: bool = False


def plan_block(
    extent: Extent,
    *,
    remaining_s: float,
    done: int,
    costs: Costs,
    slice_s: float = SLICE_S,
    side_slice_s: float = SLICE_S,
    fixed_slice_s: float | None = None,
) -> BlockPlan | None:
    """Return the next of the blocks that fit into ``remaining_s``, after ``done`` others; None when none does.

    The answer's own cells come first, in slices of ``slice_s`` (what the page needs) or ``fixed_slice_s``, with as
    many passes as `passes_worth` says. Other levels are measured in slices of ``side_slice_s``: in the first block,
    and again only where the most blocks that a race makes fit into the time all the same. Where time is short,
    passes and then slices give way to blocks. So more time never means fewer blocks, nor fewer seconds of slices in
    as many blocks.
    """
    if done >= MOST_BLOCKS:
        return None
    remaining_s -= costs.stop_s  # of the last block, which nothing follows
    cut = _Cut(extent=extent, costs=costs, done=done,
               slice_s=fixed_slice_s or max(slice_s, costs.between_s),
               side_s=fixed_slice_s or side_slice_s,
               least_s=fixed_slice_s or _least_s(slice_s, costs))  # fmt: skip
    first_s = remaining_s - (cut.sides_s if done == 0 else 0.0)
    blocks = cut.blocks_in(first_s)
    if done + blocks < MOST_BLOCKS:
        shorter = cut.shortened(first_s, blocks)
        return shorter and replace(shorter, sides=done == 0 and extent.sides > 0)
    passes = cut.filling(first_s)
    spare_s = first_s - (0.0 if done == 0 else cut.sides_s)
    sides = extent.sides > 0 and cut.blocks_in(spare_s) == blocks and cut.filling(spare_s) == passes
    return replace(cut.plan(cut.slice_s, passes, blocks), sides=sides)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """One way of cutting time: slices of ``slice_s``, cut to ``least_s`` at most, and of ``side_s`` beside."""

    extent: Extent
    costs: Costs
    done: int
    slice_s: float
    side_s: float
    least_s: float

    @property
    def sides_s(self) -> float:
        return self.extent.sides * (self.side_s + self.costs.between_s)

    def plan(self, slice_s: float, passes: int, blocks_left: int) -> BlockPlan:
        return BlockPlan(slice_s=slice_s, passes=passes, blocks_left=blocks_left, side_slice_s=self.side_s)

    @property
    def passes(self) -> int:
        """How many passes a block is to have."""
        launch_s = self.costs.of(self.extent.stacks) / self.extent.headline
        return passes_worth(launch_s, self.slice_s + self.costs.between_s)

    def blocks_in(self, remaining_s: float) -> int:
        """Return how many more blocks fit as they are meant to be."""
        each_s = block_s(self.extent, self.costs, self.passes, self.slice_s)
        return max(min(int(remaining_s / each_s + 1e-9), MOST_BLOCKS - self.done), 0)

    def shortened(self, remaining_s: float, blocks: int) -> BlockPlan | None:
        """Return the next block, cut down as far as it takes to have those that are wanted, or as many as there
        may be."""
        wanted = max(WANTED_BLOCKS - self.done, 1)
        if blocks >= wanted:
            return self.plan(self.slice_s, self.passes, blocks)
        for many in range(wanted, 0, -1):
            length_s = self._fitting(remaining_s / many, 1)
            if length_s >= self.least_s - 1e-9:
                passes = next(p for p in range(self.passes, 0, -1)
                              if p == 1 or self._fitting(remaining_s / many, p) >= self.slice_s)  # fmt: skip
                return self.plan(min(length_s, self.slice_s), passes, many)
        return None

    def _fitting(self, block_s: float, passes: int) -> float:
        """Return how long slices are that fill a block of ``block_s`` seconds."""
        free_s = block_s - self.costs.of(self.extent.stacks)
        return free_s / (passes * self.extent.headline) - self.costs.between_s

    def filling(self, remaining_s: float) -> int:
        """Return how many passes fill the time of a race that makes all its blocks."""
        each_s = remaining_s / (MOST_BLOCKS - self.done)
        return next((p for p in range(MOST_PASSES, self.passes, -1) if self._fitting(each_s, p) >= self.slice_s),
                    self.passes)  # fmt: skip


def passes_worth(launch_s: float, slice_s: float) -> int:
    """Return how many slices are worth a launch of ``launch_s``, each taking ``slice_s`` with what lies around it.

    R = ½·√(launch_s/slice_s · T1²/T2²), from 1 to ``MOST_PASSES``, T2²/T1² being ``BETWEEN``. The root gives the
    narrowest limits of many launches; half of it serves the few of a race better, which also tell how much launches
    vary. The best R is flat: simulated races answer as often with half and with twice as many, and with a fifth to
    twice the T2²/T1². So it is not estimated.

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6.2.
    """
    return min(max(round(math.sqrt(launch_s / slice_s / BETWEEN) / 2), 1), MOST_PASSES)


def least_budget_s(
    extent: Extent,
    costs: Costs,
    fixed_slice_s: float | None = None,
    *,
    slice_s: float = SLICE_S,
    side_slice_s: float = SLICE_S,
) -> float:
    """Return the shortest budget that allows one block, its slices cut to the least or of ``fixed_slice_s``.

    The lengths are those of `plan_block`.
    """
    least_s = fixed_slice_s or _least_s(slice_s, costs)
    side_s = fixed_slice_s or side_slice_s
    return (
        costs.of(extent.stacks)
        + costs.stop_s
        + extent.headline * (least_s + costs.between_s)
        + extent.sides * (side_s + costs.between_s)
    )


def block_s(extent: Extent, costs: Costs, passes: int, slice_s: float) -> float:
    """Return what a block takes without its side levels."""
    return costs.of(extent.stacks) + passes * extent.headline * (slice_s + costs.between_s)


def _least_s(slice_s: float, costs: Costs) -> float:
    """The shortest slice that may be: where stacks take long to rest, short ones would mostly be spent waiting."""
    return max(min(slice_s, SLICE_S), LEAST_SHARE * slice_s, costs.between_s / 2)
