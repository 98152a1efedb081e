"""Division of a time budget into blocks, passes and slices, and the refusal of one too short for a block. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..base.errors import InputError
from ..base.numbers import about, duration, things
from ..base.units import DURATION
from .overhead import USUAL_LAUNCH_S, Overhead
from .pace import SLICE_S, USUAL_LENGTHS, SliceLengths, headline
from .plan import Cell, RacePlan
from .twins import entrants


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Number of cells and stacks in one pass."""

    stacks: int
    headline: int
    """Cells of the headline level, at least one."""
    sides: int = 0
    """All other cells."""


def extent_of(cells: Sequence[Cell], *, alike: bool = False) -> Extent:
    """Return the extent of one pass over ``cells``; if they are all ``alike`` none is a side cell."""
    level = headline(cells).level
    ahead = sum(alike or cell.level == level for cell in cells)
    return Extent(stacks=len({cell.stack for cell in cells}), headline=ahead, sides=len(cells) - ahead)


_LEAST_SHARE = 0.6
"""Share of the length a slow page needs to which its slices may be shortened."""

_BETWEEN = 0.1
"""Assumed variance between launches, as a share of the variance between slices."""

MOST_PASSES = 8
MOST_BLOCKS = 40

FEWEST_BLOCKS = 2
"""Blocks that a budget must hold, since one launch says nothing about the next."""

_WANTED_BLOCKS = 5
"""Blocks for whose sake passes and slices are reduced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """The next block: each cell of the headline level is measured ``passes`` times, those of other levels once."""

    slice_s: float
    """Length of slices at the headline level."""
    passes: int
    blocks_left: int
    """Blocks left, including this one."""
    side_slice_s: float
    """Length of slices at other levels."""
    sides: bool = False
    """True if other levels are measured."""


def plan_block(
    extent: Extent,
    *,
    remaining_s: float,
    done: int,
    overhead: Overhead,
    lengths: SliceLengths = USUAL_LENGTHS,
    most: int = MOST_BLOCKS,
) -> BlockPlan | None:
    """Return the next of the blocks that fit into ``remaining_s``, after ``done`` others; None if none fits.

    There are at most ``most`` in all.

    The headline cells come first, with as many passes as `passes_worth` says. Other levels are measured in the
    first block, and again only if the time still holds the most blocks of any race. If time is short, first passes
    and then slices are reduced to keep the number of blocks. So more time never means fewer blocks, nor less slice
    time in the same number of blocks.
    """
    if done >= most:
        return None
    remaining_s -= overhead.stop_s  # of the last block, which nothing follows
    cut = _Division(extent=extent, overhead=overhead, lengths=lengths, done=done, most=most)
    first_s = remaining_s - (cut.sides_s if done == 0 else 0.0)
    blocks = cut.blocks_in(first_s)
    if done + blocks < most:
        shorter = cut.shortened(first_s, blocks)
        return shorter and replace(shorter, sides=done == 0 and extent.sides > 0)
    passes = cut.filling(first_s)
    spare_s = first_s - (0.0 if done == 0 else cut.sides_s)
    sides = extent.sides > 0 and cut.blocks_in(spare_s) == blocks and cut.filling(spare_s) == passes
    return replace(cut.plan(cut.slice_s, passes, blocks), sides=sides)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Division:
    extent: Extent
    overhead: Overhead
    lengths: SliceLengths
    done: int
    """Blocks that are over."""
    most: int
    """The most blocks in all."""

    @property
    def slice_s(self) -> float:
        """Intended length of slices at the headline level."""
        lengths = self.lengths
        return lengths.slice_s if lengths.fixed else max(lengths.slice_s, self.overhead.between_s)

    @property
    def sides_s(self) -> float:
        return self.extent.sides * (self.lengths.side_s + self.overhead.between_s)

    def plan(self, slice_s: float, passes: int, blocks_left: int) -> BlockPlan:
        round_s = 0.0 if self.lengths.fixed else self.lengths.round_s
        if round_s:
            slice_s = max(math.floor(slice_s / round_s + 1e-9), 1) * round_s
        return BlockPlan(slice_s=slice_s, passes=passes, blocks_left=blocks_left, side_slice_s=self.lengths.side_s)

    @property
    def passes(self) -> int:
        """Intended number of passes in a block."""
        launch_s = self.overhead.empty_block_s(self.extent.stacks) / self.extent.headline
        return passes_worth(launch_s, self.slice_s + self.overhead.between_s)

    def blocks_in(self, remaining_s: float) -> int:
        """Return the number of further blocks of the intended size that fit."""
        each_s = block_s(self.extent, self.overhead, self.passes, self.slice_s)
        return max(min(int(remaining_s / each_s + 1e-9), self.most - self.done), 0)

    def shortened(self, remaining_s: float, blocks: int) -> BlockPlan | None:
        """Return the next block, reduced until the wanted number of blocks fits, or as many as possible."""
        wanted = max(_WANTED_BLOCKS - self.done, 1)
        if blocks >= wanted:
            return self.plan(self.slice_s, self.passes, blocks)
        for many in range(wanted, 0, -1):
            length_s = self._fitting(remaining_s / many, 1)
            if length_s >= _least_s(self.lengths, self.overhead) - 1e-9:
                passes = next(p for p in range(self.passes, 0, -1)
                              if p == 1 or self._fitting(remaining_s / many, p) >= self.slice_s)  # fmt: skip
                return self.plan(min(length_s, self.slice_s), passes, many)
        return None

    def _fitting(self, block_s: float, passes: int) -> float:
        free_s = block_s - self.overhead.empty_block_s(self.extent.stacks)
        return free_s / (passes * self.extent.headline) - self.overhead.between_s

    def filling(self, remaining_s: float) -> int:
        """Return the number of passes that fill the time of a race with all its blocks."""
        each_s = remaining_s / (self.most - self.done)
        return next((p for p in range(MOST_PASSES, self.passes, -1) if self._fitting(each_s, p) >= self.slice_s),
                    self.passes)  # fmt: skip


def passes_worth(launch_s: float, slice_s: float) -> int:
    """Return the number of slices that justify a launch of ``launch_s``, each taking ``slice_s`` with its pauses.

    R = ½·√(launch_s/slice_s · T1²/T2²), from 1 to ``MOST_PASSES``, T2²/T1² being ``_BETWEEN``. The root gives the
    narrowest limits for many launches; half of it is better for the few launches of a race, which also show how
    much launches vary. R matters little near its best: simulated races answer as often with half and with twice as
    many, and with a fifth to twice the T2²/T1². So T2²/T1² is not estimated.

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6.2.
    """
    return min(max(round(math.sqrt(launch_s / slice_s / _BETWEEN) / 2), 1), MOST_PASSES)


def least_budget_s(extent: Extent, overhead: Overhead, lengths: SliceLengths = USUAL_LENGTHS) -> float:
    """Return the shortest budget for one block with the shortest slices."""
    sides_s = extent.sides * (lengths.side_s + overhead.between_s)
    return block_s(extent, overhead, 1, _least_s(lengths, overhead)) + sides_s + overhead.stop_s


def block_s(extent: Extent, overhead: Overhead, passes: int, slice_s: float) -> float:
    """Return the seconds of a block without its side levels."""
    return overhead.empty_block_s(extent.stacks) + passes * extent.headline * (slice_s + overhead.between_s)


def _least_s(lengths: SliceLengths, overhead: Overhead) -> float:
    """Return the shortest acceptable slice: shorter ones would be spent waiting until stacks are idle."""
    if lengths.fixed:
        return lengths.slice_s
    least_s = max(min(lengths.slice_s, SLICE_S), _LEAST_SHARE * lengths.slice_s, overhead.between_s / 2)
    return math.ceil(least_s / lengths.round_s - 1e-9) * lengths.round_s if lengths.round_s else least_s


def too_short_for(plan: RacePlan, least_s: float, remaining_s: float) -> InputError:
    """Return the error for ``plan``'s budget, of which ``remaining_s`` is left for a block of ``least_s``."""
    assert plan.budget_s is not None
    return too_short(
        plan.budget_s,
        least_s,
        stacks=len(plan.stacks),
        workloads=len(plan.workloads),
        levels=len(plan.race.loads),
        twin=len(entrants(plan)) > len(plan.stacks),
        before_s=plan.budget_s - remaining_s,
        loading_s=plan.loading.wall_s,
    )


def too_short(
    budget_s: float,
    least_s: float,
    *,
    stacks: int,
    workloads: int,
    levels: int,
    twin: bool = False,
    before_s: float = 0.0,
    loading_s: float = 0.0,
) -> InputError:
    """Return the error for a budget too short for a single block of ``least_s``.

    ``before_s`` of it are spent already: preparing counts, except for installing and building. ``loading_s`` is the
    app's time to load, the reason if launches take long.
    """
    meeting = f" with {workloads} workloads" if workloads > 1 else ""
    size = f"{things(stacks, 'stack')}{meeting} at {things(levels, 'load level')}"
    spent = f" after {about(before_s)} of preparation" if before_s >= 1 else ""
    reason = (
        f"; the app takes {duration(loading_s)} to load and to answer first" if loading_s > USUAL_LAUNCH_S else ""
    )
    return InputError(
        f"--budget {DURATION.format(budget_s)} is too short: one block of {size} takes "
        f"{DURATION.format(least_s)}{spent}, and an answer needs at least {FEWEST_BLOCKS} blocks, "
        f"about {about(before_s + FEWEST_BLOCKS * least_s)}; give more time, fewer stacks or fewer levels"
        + (", or --no-twin" if twin else "")
        + reason
    )
