"""How a budget in time becomes blocks, passes and slices. Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["REWARM_S", "BlockPlan", "Costs", "least_budget_s", "plan_block"]

REWARM_S = 0.15
"""Load sent before each slice and not recorded, so that a slice starts on warm connections and caches."""

SLICE_S = 0.6
"""The preferred slice. Where a machine changes its speed every few seconds, short slices in quick turns let all
stacks meet the same speed; docs/method.md has the measurement."""

LEAST_SLICE_S = 0.3
PASSES = 4
"""√(cost of a launch / cost of a slice · variance within / between launches) comes out near this.
Source: Kalibera & Jones 2013, section 6."""

LEAST_BLOCKS = 3
"""Fewer launches allow no useful limits, so passes are given up first, then the slices' length."""

MOST_BLOCKS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a block spends beside its slices, in seconds: per launch, per warm-up, and once for stopping."""

    launch_s: float = 1.5
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

    As many blocks as fit with ``PASSES`` passes of ``SLICE_S``, but at least what is missing to
    ``LEAST_BLOCKS``, if need be with fewer passes and slices down to ``LEAST_SLICE_S``. None when not even one
    more block of the shortest slices fits, or ``MOST_BLOCKS`` are done.
    """
    slice_s = fixed_slice_s or SLICE_S
    least_s = fixed_slice_s or LEAST_SLICE_S
    cells = stacks * levels
    whole_s = costs.of(stacks) + PASSES * cells * (slice_s + REWARM_S)
    wanted = max(math.floor(remaining_s / whole_s), LEAST_BLOCKS - done, 1)
    for blocks in range(min(wanted, MOST_BLOCKS - done), 0, -1):
        cell_s = (remaining_s / blocks - costs.of(stacks)) / cells
        if cell_s >= least_s + REWARM_S:
            # a pass more of slices that are somewhat shorter beats a pass less of longer ones
            passes = max(math.floor(cell_s / ((fixed_slice_s or 0.75 * SLICE_S) + REWARM_S)), 1)
            fitted_s = fixed_slice_s or cell_s / passes - REWARM_S
            return BlockPlan(slice_s=fitted_s, passes=passes, blocks_left=blocks)
    return None


def least_budget_s(*, stacks: int, levels: int, costs: Costs) -> float:
    """Return the shortest budget that allows one block of the shortest slices."""
    return costs.of(stacks) + stacks * levels * (LEAST_SLICE_S + REWARM_S)
