"""Races drawn in chunks, so that memory stays small and every chunk is the same on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stackrace.stats.selection import LOOKS

from ..noise import SD, Array, Dice, Noise, blocks
from .truths import EQUAL, Truth

LAST = LOOKS[-1]
"""So many launches of each stack are drawn."""

_CHUNK = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one figure of a table is about: so many races of so many stacks, a model of noise and a truth."""

    model: Noise
    stacks: int
    races: int
    truth: Truth = EQUAL
    sd: float = SD
    seed: int = 2007


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some races: ``speeds`` are the truth, (R, K), ``values`` what was measured, (R, K, B); ``dice`` for more."""

    speeds: Array
    values: Array
    dice: Dice

    @property
    def lag(self) -> Array:
        """By how much each stack is behind the best, (R, K), in ln units."""
        return np.asarray(self.speeds.max(axis=-1, keepdims=True) - self.speeds)


def chunks(cell: Cell, launches: int = LAST) -> Iterator[Chunk]:
    """Draw the races of a cell."""
    for start in range(0, cell.races, _CHUNK):
        dice = np.random.default_rng([cell.seed, cell.stacks, start])
        races = min(_CHUNK, cell.races - start)
        speeds = cell.truth.drawn(dice, races, cell.stacks)
        noise = blocks(cell.model, dice, races, cell.stacks, launches, cell.sd)
        yield Chunk(speeds=speeds, values=speeds[..., None] + noise, dice=dice)
