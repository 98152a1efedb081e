"""Races with a known truth, drawn in chunks: memory stays small, and every chunk is the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from stackrace.stats.selection import LOOKS

from ..noise import SD, Array, Dice, Noise, blocks

SPEEDS = (1, 0.93, 0.91, 0.87, 0.69, 0.62, 0.59, 0.53, 0.46, 0.11)
"""Ten Python stacks in a real race, the best being 1."""

MORE = (0.83, 0.78, 0.74, 0.66, 0.56, 0.5, 0.42, 0.37, 0.32, 0.25)
"""What a larger field has between and below them."""

CLEAR = (1, 0.7, 0.6, 0.45, 0.75, 0.65, 0.5, 0.4, 0.35, 0.3)
"""The best is 30 % ahead of one to three others, 25 % of more."""

AHEAD = 1.055
"""A little more than what matters: the next one is just not good enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """``drawn`` returns the speeds of so many races of so many stacks, (races, stacks), in ln units."""

    name: str
    drawn: Callable[[Dice, int, int], Array]


def _narrow(dice: Dice, races: int, stacks: int) -> Array:
    """The best is 5.5 % ahead of all others; every other race it is the first stack, whose noise may be special."""
    speeds = np.zeros((races, stacks))
    speeds[::2, 0] = speeds[1::2, -1] = math.log(AHEAD)
    return speeds


def _realistic(dice: Dice, races: int, stacks: int) -> Array:
    speeds = np.log((SPEEDS + MORE)[:stacks])
    return dice.permuted(np.tile(speeds, (races, 1)), axis=-1)


def _apart(dice: Dice, races: int, stacks: int) -> Array:
    return dice.permuted(np.tile(np.log(CLEAR[:stacks]), (races, 1)), axis=-1)


def _wide(dice: Dice, races: int, stacks: int) -> Array:
    return dice.uniform(0, math.log(3), (races, stacks))


def _within(dice: Dice, races: int, stacks: int) -> Array:
    return dice.uniform(0, math.log(1.3), (races, stacks))


def _equal(dice: Dice, races: int, stacks: int) -> Array:
    return np.zeros((races, stacks))


NARROW = Truth(name="ahead by 5.5 %", drawn=_narrow)
REALISTIC = Truth(name="realistic", drawn=_realistic)
WITHIN = Truth(name="within 30 %", drawn=_within)
EQUAL = Truth(name="all equal", drawn=_equal)
APART = Truth(name="far apart", drawn=_apart)
WIDE = Truth(name="within a factor of 3", drawn=_wide)

TRUTHS = (NARROW, REALISTIC, WITHIN)
"""The truths under which a winner can be wrong."""


DELTA = math.log(1.05)
"""Differences below 5 % do not matter."""

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
