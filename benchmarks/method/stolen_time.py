"""Time that others take of the machine: it comes, stays for a while, and goes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MOST = 0.4
"""Up to so much of the machine is taken."""

COMES, GOES = 0.03, 0.1
"""The chances per measurement that a burst begins, and that it ends: it lasts for ten measurements in the mean."""

RHO = 0.95


def bursts(dice: np.random.Generator, races: int, moments: int, most: float = MOST) -> Array:
    """Return ln(1 − share), (races, moments): bursts of a two-state Markov process, each of 0 to ``most``."""
    return np.log1p(-_spells(dice, races, moments, 0.0, most))


def _spells(
    dice: np.random.Generator, races: int, moments: int, least: float, most: float, comes: float = COMES
) -> Array:
    shares = np.zeros((races, moments))
    own = dice.uniform(least, most, (races, moments))
    chance = dice.random((races, moments))
    taken = np.where(dice.random(races) < comes / (comes + GOES), dice.uniform(least, most, races), 0.0)
    for at in range(moments):
        ends, begins = chance[:, at] < GOES, chance[:, at] < comes
        taken = np.where(taken > 0, np.where(ends, 0.0, taken), np.where(begins, own[:, at], 0.0))
        shares[:, at] = taken
    return shares


def wandering(dice: np.random.Generator, races: int, moments: int) -> Array:
    """Return ln(1 − share), (races, moments): the share goes up and down between 0 and 40 % and never jumps.

    It is 0.4·Φ(z), z a stationary AR(1) process with ρ = 0.95 from one measurement to the next.
    """
    return np.log1p(-_wanders(dice, races, moments))


def _wanders(dice: np.random.Generator, races: int, moments: int) -> Array:
    series = dice.normal(size=(races, moments))
    for at in range(1, moments):
        series[:, at] = RHO * series[:, at - 1] + math.sqrt(1 - RHO**2) * series[:, at]
    return MOST * _normal(series)


def _normal(z: Array) -> Array:
    """Return Φ(z) to 2 %: 1/(1 + exp(−1.702z)) (Haley 1952)."""
    return np.asarray(1 / (1 + np.exp(-1.702 * z)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """Another program on the stacks' core.

    ``wants`` draws what share of each moment it would have of a core by itself, (races, moments). A ``light`` one
    works that off whoever else is there, as long as this is no more than its fair share. Any other is ready to run
    for so long, and gets its fair share of that time.
    """

    name: str
    wants: Callable[[np.random.Generator, int, int], Array]
    light: bool = False

    def taken(self, wanted: Array, ready: Array) -> Array:
        """Return the share of the core that it takes from a stack with so many processes ready to run.

        The scheduler shares a core out equally among all that are ready: the fair share is 1/(ready + 1), counted
        0.50, 0.33, 0.21 and 0.12 beside 1, 2, 4 and 8. Where Linux weighs sessions against each other (autogroup),
        this holds within one.
        """
        fair = 1 / (ready + 1)
        return np.minimum(wanted, fair) if self.light else wanted * fair


def _half_seconds(dice: np.random.Generator, races: int, moments: int) -> Array:
    """Busy for 0.5 s in every 2 s; slices of 0.2 s begin 0.3 to 0.6 s after one another."""
    begun_s = dice.uniform(0, 2, (races, 1)) + dice.uniform(0.3, 0.6, (races, moments)).cumsum(axis=-1)
    within = begun_s % 2
    busy_s = np.clip(0.5 - within, 0, 0.2) + np.clip(within + 0.2 - 2, 0, 0.5)
    return np.asarray(busy_s / 0.2)


NEIGHBOURS = (
    Neighbour(name="a loop", wants=lambda dice, races, moments: np.ones((races, moments))),
    Neighbour(
        name="a build half the time", wants=lambda dice, races, moments: _spells(dice, races, moments, 0.3, 1, GOES)
    ),
    Neighbour(name="0.5 s in 2 s", wants=_half_seconds),
    Neighbour(name="light, 8 %", wants=lambda dice, races, moments: np.full((races, moments), 0.08), light=True),
    Neighbour(name="light, 0 to 40 %", wants=_wanders, light=True),
)
"""The fourth stays below the limit from which a slice is refused: it takes as much from every stack."""
