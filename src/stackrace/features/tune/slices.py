"""What each slice of a race gave, when it was loaded, and how busy its launch kept the cores."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...measure.launch import Launch, Slice
from ...race.levels import is_valid, throughput
from ...race.results.race import Race
from .stats.weather import OneLaunch, Slices

__all__ = ["slices_of"]


def slices_of(race: Race, blocks: Sequence[int]) -> Slices:
    """Return the throughput of all believed slices of K stacks in the ``blocks``; the race has one level.

    How busy a launch kept the cores is a share of those that its processes can use: one process cannot use more
    than one.
    """
    own = {
        (launch.stack, launch.block): _one(launch, valid, len(race.cores.stack_cores))
        for launch in race.launches
        if launch.verdict.valid and not launch.cut_short and (valid := [*filter(_counts, launch.slices)])
    }
    return Slices.of([[own.get((path, block)) for block in blocks] for path in race.stacks])


def _one(launch: Launch, valid: Sequence[Slice], cores: int) -> OneLaunch:
    return OneLaunch(
        values=[throughput(launch, one) for one in valid],
        moments_s=[one.result.started_at + one.result.duration_s / 2 for one in valid],
        busy=_busy(launch, valid, cores),
    )


def _counts(one: Slice) -> bool:
    return is_valid(one) and one.throughput_per_s > 0


def _busy(launch: Launch, valid: Sequence[Slice], cores: int) -> float:
    usable = min(max(sum(hop.processes for hop in one.usage) for one in launch.slices), cores)
    if not usable:
        return math.nan
    return min(sum(one.cpu_s for one in valid) / sum(one.result.duration_s for one in valid) / usable, 1.0)
