"""How a budget in time becomes blocks, passes and slices. Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

__all__ = [
    "BETWEEN",
    "FEWEST_BLOCKS",
    "MOST_BLOCKS",
    "REST_S",
    "REWARM_S",
    "SIDE_SHARE",
    "SLICE_S",
    "BlockPlan",
    "Costs",
    "Extent",
    "block_s",
    "least_budget_s",
    "plan_block",
]

REWARM_S = 0.1
"""Load sent before each slice and not recorded, so that a slice starts on warm connections and caches; more where
answers are slow (``rewarm``). docs/decisions/0024-duty-cycle.md has the measurement."""

REST_S = 0.06
"""What else lies between two slices until that was measured: the look whether stacks rest, the canary, counters."""

SLICE_S = 0.5
"""The preferred slice. Where a machine changes its speed every few seconds, short slices in quick turns let all
stacks meet the same speed; docs/method.md has the measurement."""

LEAST_SLICE_S = 0.3
LEAST_SHARE = LEAST_SLICE_S / SLICE_S
"""Slices may be shortened to so much of what is preferred, or of what the page needs."""

SIDE_SHARE = 0.6
"""A slice of a level that the answer does not speak of is so much shorter: it draws a point of a curve."""

EARLY_PASSES = (1, 1, 1, 2)
"""The passes of the first blocks. A launch more tells more than a pass more while there are few; the fourth block
has two passes, from which the pilot learns what varies within a launch and what between launches. Later ones have
as many at least, so that it goes on learning."""

MOST_PASSES = 8
MOST_BLOCKS = 40

FEWEST_BLOCKS = 2
"""A budget must hold so many, since one launch says nothing about the next."""

WANTED_BLOCKS = 5
"""Slices are shortened for the sake of so many blocks."""

BETWEEN = 0.25
"""The variance between launches, as a share of that between slices, until the pilot has measured it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a block spends beside its slices, in seconds: per launch, per warm-up, and once for stopping.

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
        """Return the seconds one block of ``stacks`` stacks spends without a single slice."""
        return stacks * (self.launch_s + self.warmup_s) + self.stop_s


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
    side_slice_s: float | None = None,
    fixed_slice_s: float | None = None,
    between: float = BETWEEN,
) -> BlockPlan | None:
    """Return the next of the blocks that fit into ``remaining_s``, after ``done`` others; None when none does.

    The answer's own cells come first, in slices of ``slice_s`` (what the page needs) or ``fixed_slice_s``, with
    ``EARLY_PASSES``, then as many passes as the pilot asks for: R = √(c_launch/c_slice · T1²/T2²), ``between``
    being T2²/T1². Other levels are measured in slices of ``side_slice_s``, or of ``SIDE_SHARE`` of the others: in
    the first block, and again only where the most blocks that a race makes fit into the time all the same. Where
    time is short, passes and then slices give way to blocks. So more
    time never means fewer blocks, nor fewer seconds of slices in as many blocks.

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6.
    """
    if done >= MOST_BLOCKS:
        return None
    cut = _Cut(extent=extent, costs=costs, done=done, between=between,
               slice_s=fixed_slice_s or max(slice_s, costs.between_s),
               side_s=fixed_slice_s or _side_s(slice_s, side_slice_s, costs),
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
    between: float
    slice_s: float
    side_s: float
    least_s: float

    @property
    def sides_s(self) -> float:
        return self.extent.sides * (self.side_s + self.costs.between_s)

    def plan(self, slice_s: float, passes: int, blocks_left: int) -> BlockPlan:
        return BlockPlan(slice_s=slice_s, passes=passes, blocks_left=blocks_left, side_slice_s=self.side_s)

    def passes(self, block: int) -> int:
        """Return how many passes the block of that number, from 0, is to have."""
        if block < len(EARLY_PASSES):
            return EARLY_PASSES[block]
        launch_s = self.costs.of(self.extent.stacks) / self.extent.headline
        wanted = math.sqrt(launch_s / (self.slice_s + self.costs.between_s) / max(self.between, 1e-9))
        return min(max(round(wanted), EARLY_PASSES[-1]), MOST_PASSES)

    def blocks_in(self, remaining_s: float) -> int:
        """Return how many more blocks fit as they are meant to be."""
        blocks = 0
        while self.done + blocks < MOST_BLOCKS:
            remaining_s -= block_s(self.extent, self.costs, self.passes(self.done + blocks), self.slice_s)
            if remaining_s < -1e-9:
                break
            blocks += 1
        return blocks

    def shortened(self, remaining_s: float, blocks: int) -> BlockPlan | None:
        """Return the next block, cut down as far as it takes to have those that are wanted, or as many as there
        may be."""
        wanted = max(WANTED_BLOCKS - self.done, 1)
        if blocks >= wanted:
            return self.plan(self.slice_s, self.passes(self.done), blocks)
        for many in range(wanted, 0, -1):
            length_s = self._fitting(remaining_s / many, 1)
            if length_s >= self.least_s - 1e-9:
                passes = next(p for p in range(self.passes(self.done), 0, -1)
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
        most = max((p for p in range(1, MOST_PASSES + 1) if self._fitting(each_s, p) >= self.slice_s), default=1)
        return max(most, self.passes(self.done)) if self.done >= len(EARLY_PASSES) else self.passes(self.done)


def least_budget_s(
    extent: Extent,
    costs: Costs,
    fixed_slice_s: float | None = None,
    *,
    slice_s: float = SLICE_S,
    side_slice_s: float | None = None,
) -> float:
    """Return the shortest budget that allows one block, its slices cut to the least or of ``fixed_slice_s``.

    The lengths are those of `plan_block`.
    """
    least_s = fixed_slice_s or _least_s(slice_s, costs)
    side_s = fixed_slice_s or _side_s(slice_s, side_slice_s, costs)
    return (
        costs.of(extent.stacks)
        + extent.headline * (least_s + costs.between_s)
        + extent.sides * (side_s + costs.between_s)
    )


def block_s(extent: Extent, costs: Costs, passes: int, slice_s: float) -> float:
    """Return what a block takes without its side levels."""
    return costs.of(extent.stacks) + passes * extent.headline * (slice_s + costs.between_s)


def _least_s(slice_s: float, costs: Costs) -> float:
    """The shortest slice that may be: where stacks take long to rest, short ones would mostly be spent waiting."""
    return max(LEAST_SHARE * slice_s, costs.between_s / 2)


def _side_s(slice_s: float, side_slice_s: float | None, costs: Costs) -> float:
    return side_slice_s or max(SIDE_SHARE * max(slice_s, costs.between_s), LEAST_SLICE_S)
