"""What a race costs: how its blocks are made up, and how long each takes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from stackrace.stats.pairs import Counts

from ..noise import Array

BUDGET_S = 180.0
"""The default budget of a race."""

WITHIN = 0.8
"""The part of a launch's variance, with one slice of half a second, that is the slice's own."""

USUAL_SLICE_S = 0.5
LEAST_SLICE_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One race's blocks.

    A launch takes ``launch_s`` to start, warm up and stop, and ``gap_s`` beside each slice. Every stack of a block
    has ``passes`` slices of ``slice_s`` at the level that decides: so many in block 1, 2, 3 …, the last number from
    then on. Each of the other ``levels`` − 1 has one of ``side_slice_s`` in the first ``side_blocks``. A twin of
    one stack runs in the first ``twin_blocks``. ``before_s`` passes before the first block.

    The variance of a launch's value is sd²·(0.2 + 0.8·(0.5 s/slice)^``white``/passes): with ``white`` 1 a slice of
    twice the length is worth two, with 0 it is worth no more than one, as where a machine's speed flickers
    (docs/decisions/0030-short-slices-many-turns.md).
    """

    launch_s: float = 0.9
    gap_s: float = 0.2
    slice_s: float = 0.2
    passes: tuple[int, ...] = (2,)
    levels: int = 3
    side_slice_s: float = 0.2
    side_blocks: int = 1
    twin_blocks: int = 3
    before_s: float = 4.0
    white: float = 0.0

    def passes_of(self, block: int) -> int:
        """Return the number of slices a launch has in that block, the first being 1."""
        return self.passes[min(block, len(self.passes)) - 1]

    def block_s(self, block: int, stacks: Counts) -> Array:
        """Return how long that block takes with so many stacks still in."""
        sides = self.levels - 1 if block <= self.side_blocks else 0
        slices_s = self.passes_of(block) * (self.slice_s + self.gap_s)
        beside_s = sides * (self.side_slice_s + self.gap_s)
        launches = stacks + (1 if block <= self.twin_blocks else 0)
        return launches * (self.launch_s + slices_s + beside_s)

    def sd(self, block: int, usual: float) -> float:
        """Return the sd of a launch's value, ``usual`` being that with one slice of half a second."""
        within = WITHIN * (USUAL_SLICE_S / self.slice_s) ** self.white / self.passes_of(block)
        return float(usual * (1 - WITHIN + within) ** 0.5)


RULE = Schedule()
"""The default race."""

LANDED = Schedule(launch_s=1.36, gap_s=0.29, slice_s=0.5, passes=(1,), side_slice_s=0.3, side_blocks=40,
                  twin_blocks=40)  # fmt: skip
"""The race as it was: all levels in every block, the twin to the end."""


def fitted(schedule: Schedule, stacks: int, blocks: int, budget_s: float) -> Schedule:
    """Return the schedule with slices as short as it takes, 0.3 s at least, to fit so many blocks into a budget."""
    twins = min(blocks, schedule.twin_blocks)
    passes = sum(schedule.passes_of(block) * (stacks + (block <= twins)) for block in range(1, blocks + 1))
    spent_s = schedule.before_s + sum(float(schedule.block_s(b, np.array(stacks))) for b in range(1, blocks + 1))
    longest_s = schedule.slice_s - max(spent_s - budget_s, 0.0) / passes
    return replace(schedule, slice_s=max(longest_s, LEAST_SLICE_S))
