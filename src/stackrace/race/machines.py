"""Several stack machines in one race: how they compare, and whose blocks count. Pure: nothing is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..stats.machines import same_ratios, same_speed
from ..stats.values import MachineComparison, MachineVerdict, RatioShift
from .levels import MeasuredLevel, blocks_of, headline_of, means, measured_levels, steady
from .results.race import Race


def compared(race: Race) -> tuple[MachineComparison, ...]:
    """Return each machine beside the one that measured most blocks at the headline level; none where it is alone.

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
    """Return ``race`` without the launches on ``machines`` whose ratios of stacks are unequal.

    What is left may be judged together: see `stats.machines`.
    """
    refused = {one.machine for one in machines if one.ratios is MachineVerdict.UNEQUAL}
    if not refused:
        return race
    return replace(race, launches=tuple(launch for launch in race.launches if launch.machine not in refused))


def _blocks_by_machine(race: Race, level: MeasuredLevel) -> dict[str, list[int]]:
    """Return the places of each machine's blocks among a level's values, as far as they hold any."""
    machine_of = {launch.block: launch.machine for launch in race.launches}
    places: dict[str, list[int]] = {}
    for place, block in enumerate(blocks_of(race)):
        if any(math.isfinite(values[place]) for values in level.values):
            places.setdefault(machine_of[block], []).append(place)
    return places


def _compared(
    race: Race, level: MeasuredLevel, machine: str, against: str, blocks: dict[str, list[int]], tests: int
) -> MachineComparison:
    own, other = (
        replace(level, values=tuple(tuple(values[place] for place in blocks[name]) for values in level.values))
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
    """Return the mean of each block of two machines, over the stacks that were measured in most blocks of both."""
    both = replace(own, values=tuple(a + b for a, b in zip(own.values, other.values, strict=True)))
    values, blocks = means(steady(both)), len(own.values[0])
    return values[:blocks], values[blocks:]
