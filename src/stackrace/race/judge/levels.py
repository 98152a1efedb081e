"""Levels of a race: their measurements, the judgement and scaling of their stacks, and how machines compare."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ...measure.launch import Launch, Slice
from ...measure.load import Load
from ...stacks.stack import original_path
from ...stats import scaling as law
from ...stats.judge import Judgement, judge
from ...stats.machines import same_ratios, same_speed
from ...stats.values import MachineComparison, MachineVerdict, RatioShift, ScalingCurve, Unfit
from ...validity.registry import cores_taken
from ..results.race import Race
from ..results.standing import Level, Row

Response = Callable[[Launch, Slice], float]
"""Function that gives a slice's response in ln units, more being better; NaN if there is none."""

LevelKey = tuple[str, str]
"""Names of a workload and a load; values with the same names are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLevel:
    """One workload at one load, and the values of each stack's valid slices, block by block."""

    workload: str
    load: Load
    stacks: tuple[str, ...]
    """Paths of the stacks with valid slices, in the race's order."""
    slices: tuple[tuple[Slice, ...], ...]
    """Slices by stack, in order of blocks."""
    values: tuple[tuple[float, ...], ...]
    """Values by stack and block: the mean response of the valid slices, ln(throughput per s) by default; NaN if
    there are none."""

    @property
    def key(self) -> LevelKey:
        """Names of workload and load: the ``key_of`` of this level's slices."""
        return self.workload, self.load.label


_SlicesOfLevel = dict[tuple[str, int], list[tuple[Slice, float]]]
"""The valid slices of one level with their responses, by stack and block."""


def is_valid(slice_: Slice) -> bool:
    """Return True if no check rejects the slice."""
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
    extra: Sequence[str] = (),
    pooled: bool = False,
    response: Response = throughput,
    believed: Callable[[Slice], bool] = is_valid,
) -> list[MeasuredLevel]:
    """Return the levels with valid data in the first ``blocks`` blocks (None: all), in the plan's order.

    Launches under other names than those of the race's stacks, such as its hidden twin's, are left out unless their
    name is in ``extra``, or they are ``pooled`` with those of the twin's original: a block's value is then the mean
    over both. An invalid launch excludes all its slices. ``response`` gives a slice's value, ``believed`` decides
    which slices count.

    A block counts as a whole: if other programs leave one stack without a valid slice in it, it counts for none.
    Stacks with many processes are disturbed less, and would win while the others are missing.
    """
    order, named = blocks_of(race)[:blocks], (*race.stacks, *extra)
    valid: dict[LevelKey, _SlicesOfLevel] = {}
    lost: dict[LevelKey, set[tuple[str, int]]] = {}
    names = tuple(race.workloads) or ("",)
    loads = {(name, load.label): load for name in names for load in race.loads}
    for launch in race.launches:
        stack = original_path(launch.stack) if pooled else launch.stack
        if launch.block not in order or stack not in named or not launch.verdict.valid or launch.cut_short:
            continue
        for slice_ in launch.slices:
            if cores_taken(slice_.verdict.findings):
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
        whole = {key: slices for key, slices in found.items() if key[1] not in broken}
        levels.append(_level(named, key[0], load, order, whole))
    return [level for level in levels if level.stacks]


def key_of(slice_: Slice) -> LevelKey:
    """Return the names of a slice's workload and load."""
    return slice_.workload, slice_.load.label


def where(level: LevelKey) -> str:
    """Return a level's name in a sentence: ``at c=20``, or ``on static at c=20`` if the workload has a name."""
    workload, load = level
    return (f"on {workload} " if workload else "") + f"at {load}"


def headline_of(levels: Sequence[MeasuredLevel]) -> int:
    """Return the index of the headline level among ``levels``, at least one.

    The headline is a level of the first workload: the highest concurrency at which more than half of its measured
    stacks have valid data, with keep-alive rather than without. Failing that, it is the level with the most stacks.
    """
    own = [i for i, level in enumerate(levels) if level.workload == levels[0].workload]
    measured = {stack for i in own for stack in levels[i].stacks}
    enough = [i for i in own if 2 * len(levels[i].stacks) > len(measured)]
    if enough:
        return max(enough, key=lambda i: (levels[i].load.concurrency, levels[i].load.keep_alive))
    return max(own, key=lambda i: (len(levels[i].stacks), levels[i].load.concurrency))


def steady(level: MeasuredLevel) -> dict[str, Sequence[float]]:
    """Return the values of the stacks that were measured in most blocks, the twin with its original.

    A block without a value of one of them is NaN in all, so that no stack's absence looks like drift.
    """
    most = max((sum(map(math.isfinite, values)) for values in level.values), default=0)
    by_stack = zip(level.stacks, level.values, strict=True)
    return {stack: values for stack, values in by_stack if sum(map(math.isfinite, values)) == most}


def means(values: Mapping[str, Sequence[float]]) -> list[float]:
    """Return the mean over the stacks for each block."""
    return [fmean(block) for block in zip(*values.values(), strict=True)]  # NaN where one of them has none


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
        values=tuple(
            tuple(fmean([v for _, v in slices if not math.isnan(v)] or [math.nan]) for slices in own)
            for own in by_block
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLevel:
    """A level, its judgement, and its race."""

    race: Race
    measured: MeasuredLevel
    judgement: Judgement
    """Judgement by the indices of the measured stacks."""
    level: Level

    @property
    def stacks(self) -> Sequence[str]:
        """Measured stacks, by the judgement's indices."""
        return self.measured.stacks

    @property
    def rows(self) -> Sequence[Row]:
        """The level's rows, best tier first."""
        return self.level.rows

    @property
    def series(self) -> tuple[str, bool]:
        """Workload and keep-alive: equal for levels that differ only in the number of connections."""
        return self.level.workload, self.level.load.keep_alive

    @property
    def first(self) -> int:
        """Index of the stack that the answer names."""
        return self.judgement.leader

    def row(self, index: int) -> Row:
        """Return the row of the stack with that index."""
        return next(row for row in self.rows if row.stack == self.stacks[index])


def judgement_of(race: Race, level: MeasuredLevel, *, drops: bool) -> Judgement:
    """Return the judgement of a level, which drops stacks if ``drops``, except in exhaustive races and runs."""
    drops = drops and not race.exhaustive and race.repeats is None
    return judge(level.values, race.difference, question=race.question, drops=drops)


def curves(levels: Sequence[JudgedLevel]) -> tuple[ScalingCurve, ...]:
    """Return a curve for each stack and workload with two or more levels of a closed loop.

    Levels with a connection per request have curves of their own. A block without a value at one level still counts
    at the others.
    """
    series: dict[tuple[str, bool, str], dict[int, Sequence[float]]] = {}
    for judged in sorted(levels, key=lambda level: level.measured.load.concurrency):
        load = judged.measured.load
        if load.is_open:
            continue
        for stack, values in zip(judged.stacks, judged.measured.values, strict=True):
            series.setdefault((*judged.series, stack), {})[load.concurrency] = values
    return tuple(_curve(*key, curve) for key, curve in series.items() if len(curve) > 1)


def _curve(workload: str, keep_alive: bool, stack: str, curve: dict[int, Sequence[float]]) -> ScalingCurve:
    levels, values = tuple(curve), tuple(curve.values())
    knee = law.knee(levels, values)
    fitted = law.fit(levels, values)
    unfit = fitted if isinstance(fitted, Unfit) else None
    return ScalingCurve(
        stack=stack,
        workload=workload,
        keep_alive=keep_alive,
        levels=levels,
        knee=None if knee is None else levels[knee],
        law=None if isinstance(fitted, Unfit) else fitted,
        unfit=unfit,
    )


def compared(race: Race) -> tuple[MachineComparison, ...]:
    """Return each machine compared with the one that measured most headline blocks; empty for one machine.

    The twin's launches count as its original's.
    """
    if len({launch.machine for launch in race.launches}) < 2:
        return ()
    levels = measured_levels(race, pooled=True)
    if not levels:
        return ()
    level = levels[headline_of(levels)]
    blocks = _blocks_by_machine(race, level)
    first, *others = sorted(blocks, key=lambda machine: -len(blocks[machine]))
    return tuple(_compared(race, level, machine, first, blocks, len(others)) for machine in others)


def pooled(race: Race, machines: Sequence[MachineComparison]) -> Race:
    """Return ``race`` without the launches on ``machines`` with unequal ratios of stacks.

    The rest may be judged together: see `stats.machines`.
    """
    refused = {one.machine for one in machines if one.ratios is MachineVerdict.UNEQUAL}
    if not refused:
        return race
    return replace(race, launches=tuple(launch for launch in race.launches if launch.machine not in refused))


def _blocks_by_machine(race: Race, level: MeasuredLevel) -> dict[str, list[int]]:
    """Return the indices of each machine's blocks among a level's values, without blocks that have none."""
    machine_of = {launch.block: launch.machine for launch in race.launches}
    indexes: dict[str, list[int]] = {}
    for index, block in enumerate(blocks_of(race)):
        if any(math.isfinite(values[index]) for values in level.values):
            indexes.setdefault(machine_of[block], []).append(index)
    return indexes


def _compared(
    race: Race, level: MeasuredLevel, machine: str, against: str, blocks: dict[str, list[int]], tests: int
) -> MachineComparison:
    own, other = (
        replace(level, values=tuple(tuple(values[index] for index in blocks[name]) for values in level.values))
        for name in (machine, against)
    )
    ratio, speed = same_speed(*_of_same_stacks(own, other), race.difference)
    shift, ratios = same_ratios(own.values, other.values, race.difference, tests=tests)
    return MachineComparison(
        machine=machine,
        against=against,
        ratio=ratio,
        speed=speed,
        shift=None if shift is None else RatioShift(
            first=level.stacks[shift.first], second=level.stacks[shift.second], shift=shift.shift
        ),
        ratios=ratios,
    )  # fmt: skip


def _of_same_stacks(own: MeasuredLevel, other: MeasuredLevel) -> tuple[list[float], list[float]]:
    """Return each block's mean for two machines, over the stacks that were measured in most blocks of both."""
    both = replace(own, values=tuple(a + b for a, b in zip(own.values, other.values, strict=True)))
    values, blocks = means(steady(both)), len(own.values[0])
    return values[:blocks], values[blocks:]
