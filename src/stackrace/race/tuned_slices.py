"""What each slice of a race gave, when it was loaded, and how busy its launch kept the cores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..model.launch import Launch, Slice
from ..model.race import Race
from ..stats.tuning.weather import Slices
from .levels import is_valid, throughput

__all__ = ["slices_of"]


def slices_of(race: Race, blocks: Sequence[int]) -> Slices:
    """Return the throughput of all believed slices of K stacks in the ``blocks``; the race has one level.

    How busy a launch kept the cores is a share of those that its processes can use: one process cannot use more
    than one.
    """
    own = {
        (launch.stack, launch.block): (launch, valid)
        for launch in race.launches
        if launch.verdict.valid and not launch.cut_short and (valid := [*filter(_counts, launch.slices)])
    }
    shape = len(race.stacks), len(blocks), max((len(valid) for _, valid in own.values()), default=1)
    values, moments_s, busy = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape[:2], np.nan)
    for i, path in enumerate(race.stacks):
        for j, block in enumerate(blocks):
            if (path, block) in own:
                launch, valid = own[path, block]
                values[i, j, : len(valid)] = [throughput(launch, one) for one in valid]
                moments_s[i, j, : len(valid)] = [one.result.started_at + one.result.duration_s / 2 for one in valid]
                busy[i, j] = _busy(launch, valid, len(race.cores.stack_cores))
    return Slices(values=values, moments_s=moments_s, busy=busy)


def _counts(one: Slice) -> bool:
    return is_valid(one) and one.result.throughput_per_s > 0


def _busy(launch: Launch, valid: Sequence[Slice], cores: int) -> float:
    usable = min(max(sum(hop.processes for hop in one.usage) for one in launch.slices), cores)
    if not usable:
        return math.nan
    return min(sum(one.cpu_s for one in valid) / sum(one.result.duration_s for one in valid) / usable, 1.0)
