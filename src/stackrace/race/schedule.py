"""How a budget in time becomes blocks, passes and slices. Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["BlockPlan", "Costs", "least_budget_s", "plan_block"]

REWARM_S = 0.3
"""Load sent before each slice and not recorded, so that a slice starts on warm connections and caches."""

SLICE_S = 2.0
"""The preferred slice: on a noisy machine a pair of 2 s slices has less than half the spread of 1 s slices."""

GOOD_SLICE_S = 1.2
"""Below this, blocks are given up for longer slices, down to ``GOOD_BLOCKS``."""

LEAST_SLICE_S = 0.4
GOOD_BLOCKS = 5
"""The first planned look of the statistics."""

LEAST_BLOCKS = 3
"""Fewer launches allow no useful limits, so slices shrink down to ``LEAST_SLICE_S`` first."""

MOST_BLOCKS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a block spends beside its slices, in seconds: per launch, per warm-up, and once for stopping."""

    launch_s: float = 1.2
    warmup_s: float = 1.0
    stop_s: float = 2.0

    def of(self, stacks: int) -> float:
        """Return the seconds one block of ``stacks`` stacks spends without a single slice."""
        return stacks * (self.launch_s + self.warmup_s) + self.stop_s


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """The next block: each cell is measured ``passes`` times for ``slice_s``; ``blocks_left`` counts it too."""

    slice_s: float
    passes: int
    blocks_left: int


def plan_block(
    *,
    stacks: int,
    levels: int,
    remaining_s: float,
    done: int,
    costs: Costs,
    fixed_slice_s: float | None = None,
) -> BlockPlan | None:
    """Return how to spend the next block so that the blocks still to come just fill ``remaining_s``.

    More launches beat longer slices, because the launch is the replicate; but slices below ``GOOD_SLICE_S`` are
    accepted only to reach ``GOOD_BLOCKS``, below 1 s only to reach ``LEAST_BLOCKS``. None when not even one more
    block of the shortest slices fits, or ``MOST_BLOCKS`` are done. Source: Kalibera & Jones 2013, section 6.
    """

    def cell_s(blocks: int) -> float:
        return (remaining_s / blocks - costs.of(stacks)) / (stacks * levels)

    def fits(blocks: int, slice_s: float) -> bool:
        return 0 < blocks <= MOST_BLOCKS - done and cell_s(blocks) >= slice_s + REWARM_S

    if fixed_slice_s is not None:
        floors = [(MOST_BLOCKS, 1, fixed_slice_s)]
    else:
        floors = [
            (MOST_BLOCKS, GOOD_BLOCKS, GOOD_SLICE_S),
            (GOOD_BLOCKS, LEAST_BLOCKS, 1.0),
            (LEAST_BLOCKS, 1, LEAST_SLICE_S),
        ]
    for most, least, slice_s in floors:
        for blocks in range(max(most - done, 1), max(least - done, 1) - 1, -1):
            if fits(blocks, slice_s):
                return _divide(cell_s(blocks), blocks, fixed_slice_s)
    return None


def least_budget_s(*, stacks: int, levels: int, costs: Costs) -> float:
    """Return the shortest budget that allows one block of the shortest slices."""
    return costs.of(stacks) + stacks * levels * (LEAST_SLICE_S + REWARM_S)


def _divide(cell_s: float, blocks: int, fixed_slice_s: float | None) -> BlockPlan:
    if fixed_slice_s is not None:
        passes = max(math.floor(cell_s / (fixed_slice_s + REWARM_S)), 1)
        return BlockPlan(slice_s=fixed_slice_s, passes=passes, blocks_left=blocks)
    passes = max(round(cell_s / (SLICE_S + REWARM_S)), 1)
    return BlockPlan(slice_s=cell_s / passes - REWARM_S, passes=passes, blocks_left=blocks)
