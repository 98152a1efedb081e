"""What was measured at each level of a race: the stacks with valid slices, and their values block by block."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ..measure.launch import Launch, Slice
from ..measure.load import Load
from ..stacks.stack import original_path
from ..validity import taken
from .results.race import Race

__all__ = [
    "LevelKey",
    "MeasuredLevel",
    "Response",
    "blocks_of",
    "headline_of",
    "is_valid",
    "key_of",
    "measured_levels",
    "throughput",
]

Response = Callable[[Launch, Slice], float]
"""What a slice of a launch gives in ln units, more being better; NaN where it says nothing."""

LevelKey = tuple[str, str]
"""The names of a workload and a load: what is compared has them in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLevel:
    """One workload at one load, and what valid slices say there of each stack, block by block."""

    workload: str
    load: Load
    stacks: tuple[str, ...]
    """The paths of the stacks with valid slices, in the race's order."""
    slices: tuple[tuple[Slice, ...], ...]
    """The slices by stack, in order of blocks."""
    values: tuple[tuple[float, ...], ...]
    """By stack and block: the mean response over its valid slices, ln(throughput per s) unless another was asked
    for; NaN where it has none."""

    @property
    def key(self) -> LevelKey:
        """What a slice's ``key_of`` is at this level."""
        return self.workload, self.load.label


_SlicesOfLevel = dict[tuple[str, int], list[tuple[Slice, float]]]
"""The valid slices of one level with their responses, by stack and block."""


def is_valid(slice_: Slice) -> bool:
    """Tell whether no check refuses a slice."""
    return slice_.verdict.valid


def throughput(launch: Launch, slice_: Slice) -> float:
    """Return ln(right answers per second)."""
    return math.log(slice_.throughput_per_s)


def blocks_of(race: Race) -> list[int]:
    """Return the numbers of the blocks that the race's stacks were launched in."""
    return sorted({launch.block for launch in race.launches if launch.stack in race.stacks})


def measured_levels(
    race: Race,
    *,
    blocks: int | None = None,
    beside: Sequence[str] = (),
    pooled: bool = False,
    response: Response = throughput,
    believed: Callable[[Slice], bool] = is_valid,
) -> list[MeasuredLevel]:
    """Return the levels with valid data in the first ``blocks`` blocks (None: all), in the plan's order.

    Launches under other names than those of the race's stacks, such as its hidden twin's, are left out unless
    their name is ``beside``, or they are ``pooled`` with those of the twin's original: a block's value is then the
    mean over both. An invalid launch keeps all its slices out. ``response`` is what their values are made of,
    ``believed`` says which slices count.

    A block counts as a whole: where other programs let one stack have no valid slice in it, it counts for none.
    Stacks with many processes are disturbed less, and would win in the absence of the others.
    """
    order, named = blocks_of(race)[:blocks], (*race.stacks, *beside)
    valid: dict[LevelKey, _SlicesOfLevel] = {}
    lost: dict[LevelKey, set[tuple[str, int]]] = {}
    names = tuple(race.workloads) or ("",)
    loads = {(name, load.label): load for name in names for load in race.loads}
    for launch in race.launches:
        stack = original_path(launch.stack) if pooled else launch.stack
        if launch.block not in order or stack not in named or not launch.verdict.valid or launch.cut_short:
            continue
        for slice_ in launch.slices:
            if taken(slice_.verdict.findings):
                lost.setdefault(key_of(slice_), set()).add((stack, launch.block))
            if believed(slice_) and slice_.throughput_per_s > 0:
                key = key_of(slice_)
                loads.setdefault(key, slice_.load)
                valid.setdefault(key, {}).setdefault((stack, launch.block), []).append(
                    (slice_, response(launch, slice_))
                )
    levels = []
    for key, load in loads.items():
        found = valid.get(key, {})
        broken = {block for stack, block in lost.get(key, set()) - found.keys()}
        whole = {place: slices for place, slices in found.items() if place[1] not in broken}
        levels.append(_level(named, key[0], load, order, whole))
    return [level for level in levels if level.stacks]


def key_of(slice_: Slice) -> LevelKey:
    """Return the names of a slice's workload and load."""
    return slice_.workload, slice_.load.label


def headline_of(levels: Sequence[MeasuredLevel]) -> int:
    """Return which of ``levels``, at least one, the answer speaks of.

    The highest concurrency at which more than half of the measured stacks have valid data, with keep-alive rather
    than without; failing that, the level with the most; of the first workload.
    """
    own = [i for i, level in enumerate(levels) if level.workload == levels[0].workload]
    measured = {stack for i in own for stack in levels[i].stacks}
    enough = [i for i in own if 2 * len(levels[i].stacks) > len(measured)]
    if enough:
        return max(enough, key=lambda i: (levels[i].load.concurrency, levels[i].load.keep_alive))
    return max(own, key=lambda i: (len(levels[i].stacks), levels[i].load.concurrency))


def _level(
    named: Sequence[str], workload: str, load: Load, blocks: list[int], valid: _SlicesOfLevel
) -> MeasuredLevel:
    stacks = tuple(stack for stack in named if any(key[0] == stack for key in valid))
    by_block = [[valid.get((stack, block), []) for block in blocks] for stack in stacks]
    return MeasuredLevel(
        workload=workload,
        load=load,
        stacks=stacks,
        slices=tuple(tuple(slice_ for slices in own for slice_, _ in slices) for own in by_block),
        values=tuple(tuple(map(_value, own)) for own in by_block),
    )


def _value(slices: Sequence[tuple[Slice, float]]) -> float:
    known = [value for _, value in slices if not math.isnan(value)]
    return fmean(known) if known else math.nan
