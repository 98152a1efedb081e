"""What was measured at each level of a race: the stacks with valid slices, and their values block by block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from ..model.launch import Slice
from ..model.load import Load
from ..model.race import Race
from ..model.stack import original_path

__all__ = ["Field", "blocks_of", "fields", "level_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One workload at one load: the stacks with valid slices, and their launch values by block (NaN: none)."""

    workload: str
    load: Load
    stacks: tuple[str, ...]
    slices: tuple[tuple[Slice, ...], ...]
    values: tuple[tuple[float, ...], ...]

    @property
    def level(self) -> tuple[str, str]:
        """The names of workload and load."""
        return self.workload, self.load.label


_Taken = dict[tuple[str, int], list[Slice]]
"""The valid slices of one level, by stack and block."""


def blocks_of(race: Race) -> list[int]:
    """Return the numbers of the blocks that the race's stacks were launched in."""
    return sorted({launch.block for launch in race.launches if launch.stack in race.stacks})


def fields(
    race: Race, *, blocks: int | None = None, beside: Sequence[str] = (), pooled: bool = False
) -> list[Field]:
    """Return the levels with valid data in the first ``blocks`` blocks (None: all), in the plan's order.

    Launches under other names than those of the race's stacks, such as its hidden twin's, are left out unless
    their name is ``beside``, or they are ``pooled`` with those of the twin's original: a block's value is then the
    mean over both. An invalid launch keeps all its slices out.
    """
    order, named = blocks_of(race)[:blocks], (*race.stacks, *beside)
    taken: dict[tuple[str, str], _Taken] = {}
    names = tuple(race.workloads) or ("",)
    loads = {(name, load.label): load for name in names for load in race.loads}
    for launch in race.launches:
        stack = original_path(launch.stack) if pooled else launch.stack
        if launch.block not in order or stack not in named or not launch.verdict.valid or launch.cut_short:
            continue
        for one in launch.slices:
            if one.verdict.valid and one.result.throughput_per_s > 0:
                loads.setdefault(level_of(one), one.load)
                taken.setdefault(level_of(one), {}).setdefault((stack, launch.block), []).append(one)
    found = [_field(named, key[0], load, order, taken.get(key, {})) for key, load in loads.items()]
    return [field for field in found if field.stacks]


def level_of(one: Slice) -> tuple[str, str]:
    """Return the names of a slice's workload and load."""
    return one.workload, one.load.label


def _field(named: Sequence[str], workload: str, load: Load, blocks: list[int], taken: _Taken) -> Field:
    stacks = tuple(stack for stack in named if any(key[0] == stack for key in taken))
    return Field(
        workload=workload,
        load=load,
        stacks=stacks,
        slices=tuple(tuple(one for b in blocks for one in taken.get((stack, b), ())) for stack in stacks),
        values=tuple(tuple(_value(taken.get((stack, b), ())) for b in blocks) for stack in stacks),
    )


def _value(slices: Sequence[Slice]) -> float:
    return fmean(math.log(one.result.throughput_per_s) for one in slices) if slices else math.nan
