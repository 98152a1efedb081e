"""Division of a time budget into blocks, passes and slices, and the refusal of a budget too short for a block.
Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from ...base.errors import InputError
from ...base.numbers import about, duration, flag_value, things
from ...base.units import DURATION
from ..judge.levels import LevelKey, key_of
from ..plan import Cell, RacePlan
from ..results.race import Race
from ..run.twins import first_stacks
from .overhead import USUAL_LAUNCH_S, Overhead
from .pace import SLICE_S, USUAL_LENGTHS, SliceLengths, headline


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
"""Share of a slow page's slice length down to which its slices may be shortened."""

_BETWEEN = 0.1
"""Assumed variance between launches, as a share of the variance between slices of a steady machine."""

_LAUNCH_SD = 0.03
"""Assumed sd of ln(throughput) between launches, where slices were seen to vary much more than that."""

_SD_OF_MAD = 1.4826
"""Standard deviation over median absolute deviation, for a normal distribution."""

_PILOT_BLOCKS = 7
"""Fewest blocks of a race that gives launches more slices because slices vary: fewer blocks show too little of
launches."""

MOST_PASSES = 8
MOST_BLOCKS = 40

FEWEST_BLOCKS = 2
"""Blocks that a budget must hold, since one launch says nothing about the next."""

_WANTED_BLOCKS = 5
"""Number of blocks that passes and slices are reduced for if time is short."""


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
    within: float | None = None,
) -> BlockPlan | None:
    """Return the next of the blocks that fit into ``remaining_s``, after ``done`` others; None if none fits.

    A race has at most ``most`` blocks. ``within`` is the `variance_within` launches, None if unknown.

    The headline cells come first, with as many passes as `passes_worth` says. Other levels are measured in the
    first block, and again only if the time still holds the most blocks of any race. If time is short, first passes
    and then slices are reduced to keep the number of blocks. So more time never means fewer blocks, nor less slice
    time in the same number of blocks; but where slices vary much, a block may get more passes instead.
    """
    if done >= most:
        return None
    remaining_s -= overhead.stop_s  # the last block's stop overlaps with no other block
    cut = _Division(extent=extent, overhead=overhead, lengths=lengths, done=done, most=most)
    first_s = remaining_s - (cut.sides_s if done == 0 else 0.0)
    cut = replace(cut, passes=cut.passes_worth(first_s, within))
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
    passes: int = 1
    """Intended number of passes in a block."""

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

    def passes_worth(self, remaining_s: float, within: float | None) -> int:
        """Return the number of passes that launches justify: more if slices vary and enough blocks are left."""
        launch_s = self.overhead.empty_block_s(self.extent.stacks) / self.extent.headline
        slice_s = self.slice_s + self.overhead.between_s
        usual, wanted = (passes_worth(launch_s, slice_s, variance) for variance in (None, within))
        enough = (passes for passes in range(wanted, usual, -1)
                  if self.done + replace(self, passes=passes).blocks_in(remaining_s) >= _PILOT_BLOCKS)  # fmt: skip
        return next(enough, usual)

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
            length_s = self._fitting_s(remaining_s / many, 1)
            if length_s >= _least_s(self.lengths, self.overhead) - 1e-9:
                passes = next(p for p in range(self.passes, 0, -1)
                              if p == 1 or self._fitting_s(remaining_s / many, p) >= self.slice_s)  # fmt: skip
                return self.plan(min(length_s, self.slice_s), passes, many)
        return None

    def _fitting_s(self, block_s: float, passes: int) -> float:
        free_s = block_s - self.overhead.empty_block_s(self.extent.stacks)
        return free_s / (passes * self.extent.headline) - self.overhead.between_s

    def filling(self, remaining_s: float) -> int:
        """Return the number of passes that fill the time of a race with all its blocks."""
        each_s = remaining_s / (self.most - self.done)
        return next((p for p in range(MOST_PASSES, self.passes, -1) if self._fitting_s(each_s, p) >= self.slice_s),
                    self.passes)  # fmt: skip


def passes_worth(launch_s: float, slice_s: float, within: float | None = None) -> int:
    """Return the number of slices that justify a launch of ``launch_s``, each taking ``slice_s`` with its pauses.

    R = ½·√(launch_s/slice_s · T1²/T2²), from 1 to ``MOST_PASSES``, for variances T1² of slices and T2² of launches.
    The root gives the narrowest limits for many launches; half of it is better for the few launches of a race,
    which also show how much launches vary. R matters little near its best. T2² cannot be told from few launches: it
    is taken as ``_BETWEEN``·T1², or as ``_LAUNCH_SD``² if that is less, where T1² is known from ``within``.

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6.2.
    """
    ratio = _BETWEEN if not within else min(_BETWEEN, _LAUNCH_SD**2 / within)
    return min(max(round(math.sqrt(launch_s / slice_s / ratio) / 2), 1), MOST_PASSES)


def variance_within(race: Race) -> float | None:
    """Return T1², the variance of ln(throughput) of slices within launches; None if fewer than three cells have
    data.

    Only the first two slices of each cell of the first block count, so the number of passes is settled early, and
    blocks are alike. A change that the second pass brought to all cells alike is left out. The variance follows
    from the median absolute deviation: one stack whose slices vary, as they do where few of its requests end in
    one, says nothing about the others.

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6.1; Rousseeuw & Croux 1993,
    Alternatives to the median absolute deviation.
    """
    changes = []
    for launch in race.launches:
        values: dict[LevelKey, list[float]] = {}
        for slice_ in launch.slices if launch.block == 0 else ():
            if slice_.valid and slice_.throughput_per_s > 0:
                values.setdefault(key_of(slice_), []).append(math.log(slice_.throughput_per_s))
        changes += [own[1] - own[0] for own in values.values() if len(own) > 1]
    if len(changes) < 3:
        return None
    middle = median(changes)
    return (_SD_OF_MAD * median(abs(each - middle) for each in changes)) ** 2 / 2


def least_budget_s(extent: Extent, overhead: Overhead, lengths: SliceLengths = USUAL_LENGTHS) -> float:
    """Return the shortest budget for one block with the shortest slices."""
    sides_s = extent.sides * (lengths.side_s + overhead.between_s)
    return block_s(extent, overhead, 1, _least_s(lengths, overhead)) + sides_s + overhead.stop_s


def block_s(extent: Extent, overhead: Overhead, passes: int, slice_s: float) -> float:
    """Return the seconds of a block without its side levels."""
    return overhead.empty_block_s(extent.stacks) + passes * extent.headline * (slice_s + overhead.between_s)


def _least_s(lengths: SliceLengths, overhead: Overhead) -> float:
    """Return the length of the shortest acceptable slice: with shorter ones, waiting for idle stacks takes too much
    time."""
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
        twin=len(first_stacks(plan)) > len(plan.stacks),
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

    ``before_s`` is the time already spent: preparing counts, except for installing and building. ``loading_s`` is
    the app's time to load, which the message names if it is long.
    """
    meeting = f" with {workloads} workloads" if workloads > 1 else ""
    size = f"{things(stacks, 'stack')}{meeting} at {things(levels, 'load level')}"
    spent = f" after {about(before_s)} of preparation" if before_s >= 1 else ""
    reason = (
        f"; the app takes {duration(loading_s)} to load and to answer first" if loading_s > USUAL_LAUNCH_S else ""
    )
    enough_s = before_s + FEWEST_BLOCKS * least_s
    return InputError(
        f"--budget {DURATION.format(budget_s)} is too short: one block of {size} takes "
        f"{DURATION.format(least_s)}{spent}, and an answer needs at least {FEWEST_BLOCKS} blocks, "
        f"about {about(enough_s)}; give --budget {flag_value(2 * enough_s)}, fewer stacks or fewer levels"
        + (", or --no-twin" if twin else "")
        + reason
    )
