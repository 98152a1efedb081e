"""Time that others take of the machine: it comes, stays for a while, and goes."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["bursts", "wandering"]

Array = npt.NDArray[np.float64]

MOST = 0.4
"""Up to so much of the machine is taken."""

COMES, GOES = 0.03, 0.1
"""The chances per measurement that a burst begins, and that it ends: it lasts for ten measurements in the mean."""

RHO = 0.95


def bursts(dice: np.random.Generator, races: int, moments: int, most: float = MOST) -> Array:
    """Return ln(1 − share), (races, moments): bursts of a two-state Markov process, each of 0 to ``most``."""
    shares = np.zeros((races, moments))
    own = dice.uniform(0, most, (races, moments))
    chance = dice.random((races, moments))
    taken = np.where(dice.random(races) < COMES / (COMES + GOES), dice.uniform(0, most, races), 0.0)
    for at in range(moments):
        ends, begins = chance[:, at] < GOES, chance[:, at] < COMES
        taken = np.where(taken > 0, np.where(ends, 0.0, taken), np.where(begins, own[:, at], 0.0))
        shares[:, at] = taken
    return np.log1p(-shares)


def wandering(dice: np.random.Generator, races: int, moments: int) -> Array:
    """Return ln(1 − share), (races, moments): the share goes up and down between 0 and 40 % and never jumps.

    It is 0.4·Φ(z), z a stationary AR(1) process with ρ = 0.95 from one measurement to the next.
    """
    series = dice.normal(size=(races, moments))
    for at in range(1, moments):
        series[:, at] = RHO * series[:, at - 1] + math.sqrt(1 - RHO**2) * series[:, at]
    return np.log1p(-MOST * _normal(series))


def _normal(z: Array) -> Array:
    """Return Φ(z) to 2 %: 1/(1 + exp(−1.702z)) (Haley 1952)."""
    return np.asarray(1 / (1 + np.exp(-1.702 * z)))
