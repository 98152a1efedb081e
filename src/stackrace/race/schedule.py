"""How a budget in time becomes blocks, passes and slices. Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["BETWEEN", "REST_S", "REWARM_S", "BlockPlan", "Costs", "Extent", "least_budget_s", "plan_block"]

REWARM_S = 0.1
"""Load sent before each slice and not recorded, so that a slice starts on warm connections and caches; more where
answers are slow (``rewarm``). docs/decisions/0024-duty-cycle.md has the measurement."""

REST_S = 0.06
"""What else lies between two slices until that was measured: the look whether stacks rest, the canary, counters."""

SLICE_S = 0.6
"""The preferred slice. Where a machine changes its speed every few seconds, short slices in quick turns let all
stacks meet the same speed; docs/method.md has the measurement."""

LEAST_SLICE_S = 0.3
MOST_PASSES = 8
MOST_BLOCKS = 40

WIDTHS = (15.5, 5.4, 3.8, 4.3, 3.2, 2.6, 2.3, 2.1, 2.1, 1.9, 1.7, 1.65, 1.5)
"""How wide a pair's limits are after 2, 3, … 14 blocks, in standard deviations of one launch's value: the median
over simulated races of two to ten stacks, by ``stats.looks``. Later it is 5.6/√n."""

BETWEEN = 0.25
"""The variance between launches, as a share of that between slices, until the pilot has measured it."""

ROOMY_BLOCKS = 7
"""With so many blocks within reach, all load levels are measured alike; with fewer, the headline comes first."""


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

    Those of other levels are ``side_passes`` times for ``side_slice_s``. ``blocks_left`` counts this block, too.
    """

    slice_s: float
    passes: int
    side_slice_s: float
    side_passes: int
    blocks_left: int


def plan_block(
    extent: Extent,
    *,
    remaining_s: float,
    done: int,
    costs: Costs,
    fixed_slice_s: float | None = None,
    between: float = BETWEEN,
) -> BlockPlan | None:
    """Return the next of those blocks that would fill ``remaining_s`` and give the narrowest limits.

    More blocks mean more launches, which are what limits are made of; fewer leave more passes to each. Short of
    ``ROOMY_BLOCKS`` the cells beside the headline get a single short slice per block. None when not even one more
    block of the shortest slices fits, or ``MOST_BLOCKS`` are done. ``between`` is the variance between launches as
    a share of that between slices: with the pilot's own these are the R = √(c_launch/c_slice · T1²/T2²) passes it
    asks for, within what the budget and whole numbers allow.

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6.
    """
    between_s = costs.between_s
    # where stacks take long to come to rest, short slices would mostly be spent waiting
    slice_s = fixed_slice_s or max(SLICE_S, between_s)
    least_s = fixed_slice_s or max(LEAST_SLICE_S, between_s / 2)

    def fitted(blocks: int, *, even: bool) -> BlockPlan | None:
        free_s = remaining_s / blocks - costs.of(extent.stacks)
        beside_s = 0.0 if even else extent.sides * (least_s + between_s)
        cell_s = (free_s - beside_s) / (extent.cells if even else extent.headline)
        if cell_s < least_s + between_s - 1e-9:
            return None
        # a pass more of slices that are somewhat shorter beats a pass less of longer ones
        wanted_s = fixed_slice_s or 0.75 * slice_s
        passes = min(max(math.floor(cell_s / (wanted_s + between_s)), 1), MOST_PASSES)
        length_s = fixed_slice_s or cell_s / passes - between_s
        return BlockPlan(
            slice_s=length_s,
            passes=passes,
            side_slice_s=length_s if even else least_s,
            side_passes=passes if even else 1,
            blocks_left=blocks,
        )

    def best(*, even: bool) -> BlockPlan | None:
        plans = [fitted(blocks, even=even) for blocks in range(1, MOST_BLOCKS - done + 1)]
        found = [plan for plan in plans if plan is not None]
        return min(found, key=lambda plan: _width(done + plan.blocks_left, plan.passes, between), default=None)

    roomy = best(even=True)
    if roomy is not None and done + roomy.blocks_left >= ROOMY_BLOCKS and roomy.passes > 1:
        return roomy
    return best(even=False)


def least_budget_s(extent: Extent, costs: Costs, fixed_slice_s: float | None = None) -> float:
    """Return the shortest budget that allows one block of the shortest slices, or of ``fixed_slice_s``."""
    least_s = fixed_slice_s or max(LEAST_SLICE_S, costs.between_s / 2)
    return costs.of(extent.stacks) + extent.cells * (least_s + costs.between_s)


def _width(blocks: int, passes: int, between: float = BETWEEN) -> float:
    """Return the relative width of a pair's limits after ``blocks`` launches of ``passes`` slices each."""
    if blocks < 2:
        return math.inf
    inner = WIDTHS[blocks - 2] if blocks - 2 < len(WIDTHS) else 5.6 / math.sqrt(blocks)
    return inner * math.sqrt(between + 1 / passes)
