"""The twin beside its original: whether the race finds a difference where there is none. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..stacks.stack import twin_path
from ..stats.selection import family
from .levels import LevelKey, MeasuredLevel, measured_levels
from .results.race import Race

__all__ = ["TwinDifference", "twin_differences", "twins_apart"]

ALPHA = 0.004
"""Each look's chance that equal stacks look different: the twins are looked at after every block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinDifference:
    """The twin minus its original at one level, in ln units."""

    level: LevelKey
    difference: float
    half_width: float
    """Half the width of the simultaneous limits; infinite without any."""

    @property
    def differ(self) -> bool:
        return abs(self.difference) > self.half_width


def twins_apart(race: Race, *, blocks: int | None = None) -> bool:
    """Tell whether the twins differ at any level, in the first ``blocks`` blocks or in all."""
    return any(twins.differ for twins in twin_differences(race, blocks=blocks))


def twin_differences(race: Race, *, blocks: int | None = None) -> Iterator[TwinDifference]:
    """Give each level that both halves were measured at; their limits hold for all these levels at once."""
    levels = _levels_of_both(race, blocks)
    compared = (_compared(race, level, ALPHA / len(levels)) for level in levels)
    yield from (twins for twins in compared if twins is not None)


def _levels_of_both(race: Race, blocks: int | None = None) -> list[MeasuredLevel]:
    if not race.twin:
        return []
    pair = {race.twin, twin_path(race.twin)}
    levels = measured_levels(race, blocks=blocks, beside=(twin_path(race.twin),))
    return [level for level in levels if pair <= set(level.stacks)]


def _compared(race: Race, level: MeasuredLevel, alpha: float) -> TwinDifference | None:
    """Compare the pair in a family of all stacks and the twin: None where the two share no block."""
    pairs = family(level.values, alpha)
    pair = level.stacks.index(twin_path(race.twin)), level.stacks.index(race.twin)
    if not pairs.blocks[pair]:
        return None
    return TwinDifference(
        level=level.key, difference=float(pairs.estimate[pair]), half_width=float(pairs.half_width[pair])
    )
