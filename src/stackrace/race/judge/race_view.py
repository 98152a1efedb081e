"""A race as input of the checks on whole races: twins, drifts, turns, sizes of answers. Nothing is measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from ...measure.launch import Launch, Slice
from ...measure.load import LoadResult
from ...stacks.stack import original_path
from ...stats.drift import carry_over, drift
from ...stats.values import Drift
from ...validity.races import AnswerSizes, CarryOverTest, RaceView
from ..results.race import Race
from ..run.resume import counted
from ..run.twins import twin_pairs
from .levels import LevelKey, MeasuredLevel, key_of, means, measured_levels, steady, where

_LEAST_ANSWERS = 100
"""The fewest answers that a slice needs for its mean size."""

_LEAST_PER_CONNECTION, _LEAST_OF_URLS = 5, 50
"""Answers per connection that a slice needs for its mean size. Half-read answers at its end distort the mean, but
as many at its beginning cancel most of that; unfinished rounds of several URLs must be less than the 2 % that the
check allows."""

_PARTS = 3
"""Parts that a turn's positions are grouped into: early, middle, late."""


def race_view(race: Race, headline: LevelKey) -> RaceView:
    """Return the checks' view of ``race``; ``headline`` is the key of the level that the answer is about."""
    levels = measured_levels(race, pooled=True)
    spoken = next((level for level in levels if level.key == headline), None)
    return RaceView(
        twin=race.twin,
        twins=tuple(twin_pairs(race)),
        drift=None if spoken is None else drift(means(steady(spoken))),
        uneven=() if spoken is None else tuple(_drift_of_each(spoken)),
        sizes=tuple(map(_sizes, levels)),
        carried=tuple(_carried(race)),
    )


def _sizes(level: MeasuredLevel) -> AnswerSizes:
    sizes = {
        stack: [
            slice_.result.bytes_read / slice_.result.counts.ok
            for slice_ in slices
            if slice_.result.counts.ok >= _least_answers(slice_.result) and not slice_.result.counts.errors
        ]
        for stack, slices in zip(level.stacks, level.slices, strict=True)
    }
    known = tuple((stack, median(own)) for stack, own in sizes.items() if own and median(own) > 0)
    return AnswerSizes(where=where(level.key), bytes_by_stack=known)


def _least_answers(result: LoadResult) -> int:
    each = _LEAST_OF_URLS if result.targets else _LEAST_PER_CONNECTION
    return max(_LEAST_ANSWERS, each * result.established_peak)


def _carried(race: Race) -> Iterator[CarryOverTest]:
    slices = list(turns(race))
    for level in dict.fromkeys(slice_.level for slice_ in slices):
        own = [slice_ for slice_ in slices if slice_.level == level]
        groupings = {"the place in the turn": _parts(own), "which stack was loaded before": _after(own)}
        values, turn_of_each = [slice_.value for slice_ in own], [slice_.turn for slice_ in own]
        # each value belongs to its launch, or to its stack if launches have a single slice here
        often = max(Counter(slice_.launch for slice_ in own).values(), default=0) > 1
        owners = _numbered([slice_.launch if often else slice_.stack for slice_ in own])
        for by, groups in groupings.items():
            p = carry_over(values, owners, turn_of_each, groups)
            if p is not None:
                yield CarryOverTest(by=by, where=where(level), p=p)


def _parts(own: Sequence[PlacedSlice]) -> list[int]:
    """Return early, middle or late for each slice; a turn of two stacks has an early and a late one."""
    length = Counter(slice_.turn for slice_ in own)
    return [min(slice_.position * _PARTS // max(length[slice_.turn], 2), _PARTS - 1) for slice_ in own]


def _after(own: Sequence[PlacedSlice]) -> list[int]:
    known = _numbered([slice_.after for slice_ in own])
    return [number if slice_.after else -1 for number, slice_ in zip(known, own, strict=True)]


def _numbered(names: Sequence[str]) -> list[int]:
    places = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return [places[name] for name in names]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSlice:
    """One valid slice and its position.

    In ``after``, a twin has its original's path, because both have the same effect on the next stack.
    """

    level: LevelKey
    stack: str
    launch: str
    """Id of the launch."""
    block: int
    turn: int
    """Number of the turn in the race, from 0."""
    position: int
    """Position within the turn, from 0."""
    after: str
    """Path of the stack under load just before, at whatever level; empty for the first of a block."""
    value: float
    """ln(throughput per s)."""


def turns(race: Race) -> Iterator[PlacedSlice]:
    """Yield all valid slices in order of time, each with its position in its turn, without launches cut short.

    A turn is one pass over the stacks: it ends where the level changes or a stack comes again, unless the stack's
    slice was rejected.
    """
    blocks: dict[int, list[tuple[Slice, Launch]]] = {}
    for launch in counted(race).launches:
        blocks.setdefault(launch.block, []).extend((slice_, launch) for slice_ in launch.slices)
    turn = -1
    for block in sorted(blocks):
        level, measured, position, after = ("", ""), set[str](), 0, ""
        turn += 1
        for slice_, launch in sorted(blocks[block], key=lambda pair: pair[0].index):
            if key_of(slice_) != level or launch.stack in measured:
                level, measured, position, turn = key_of(slice_), set[str](), 0, turn + 1
            if slice_.verdict.valid:
                measured.add(launch.stack)
            if slice_.verdict.valid and launch.verdict.valid and slice_.throughput_per_s > 0:
                yield PlacedSlice(
                    level=level,
                    stack=launch.stack,
                    launch=launch.id,
                    block=block,
                    turn=turn,
                    position=position,
                    after=after,
                    value=math.log(slice_.throughput_per_s),
                )
            position, after = position + 1, original_path(launch.stack)


def _drift_of_each(level: MeasuredLevel) -> Iterator[tuple[str, Drift]]:
    """Yield the drift of each stack that was measured in most blocks, relative to the mean of the others."""
    alike = steady(level)
    for stack, own in alike.items():
        others = {name: values for name, values in alike.items() if name != stack}
        if others:
            drifted = drift([a - b for a, b in zip(own, means(others), strict=True)], alpha=0.05 / len(alike))
            if drifted is not None:
                yield stack, drifted
