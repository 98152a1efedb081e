"""Models of what disturbs a measurement: what a launch draws for itself, and what the hour does to all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["MODELS", "SD", "Array", "Noise", "blocks", "sequence"]

Array = npt.NDArray[np.float64]
Dice = np.random.Generator

SD = 0.05
"""The standard deviation of one launch's ln(throughput), unless a model says otherwise."""

DRIFT_SD = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """One model.

    ``launch`` draws ln(throughput) of identical stacks, shape (races, stacks, launches), for a given sd; ``rho`` is
    the correlation of the machine's speed, sd 10 %, from one measurement to the next, None for a steady machine.
    """

    name: str
    launch: Callable[[Dice, tuple[int, int, int], float], Array]
    rho: float | None = None


def _plain(dice: Dice, shape: tuple[int, int, int], sd: float) -> Array:
    return dice.normal(0, sd, shape)


def _lottery(dice: Dice, shape: tuple[int, int, int], sd: float) -> Array:
    """One launch in four is a fifth slower as long as it lives: hash seeds, memory layout, who got which core."""
    return _plain(dice, shape, sd) + np.where(dice.random(shape) < 0.25, np.log(0.8), 0.0)


def _hits(dice: Dice, shape: tuple[int, int, int], sd: float) -> Array:
    """One launch in ten loses 12 to 40 % to something else that ran."""
    return _plain(dice, shape, sd) + np.where(dice.random(shape) < 0.1, np.log(dice.uniform(0.6, 0.88, shape)), 0.0)


def _mixture(dice: Dice, shape: tuple[int, int, int], sd: float) -> Array:
    """One launch in five has three times the standard deviation."""
    return _plain(dice, shape, sd) * np.where(dice.random(shape) < 0.2, 3.0, 1.0)


def _unequal(times: float) -> Callable[[Dice, tuple[int, int, int], float], Array]:
    """One stack has ``times`` the others' variance."""

    def launch(dice: Dice, shape: tuple[int, int, int], sd: float) -> Array:
        drawn = _plain(dice, shape, sd)
        drawn[:, 0] *= np.sqrt(times)
        return drawn

    return launch


def _mixed_sds(dice: Dice, shape: tuple[int, int, int], sd: float) -> Array:
    """Every stack has a standard deviation of its own, from a third to three times the usual."""
    return _plain(dice, shape, sd) * np.exp(dice.uniform(-np.log(3), np.log(3), (*shape[:2], 1)))


def _everything(dice: Dice, shape: tuple[int, int, int], sd: float) -> Array:
    """Hits, a lottery and one stack with five times the others' variance."""
    return _unequal(5)(dice, shape, sd) + _lottery(dice, shape, 0.0) + _hits(dice, shape, 0.0)


MODELS = (
    Noise(name="independent", launch=_plain),
    Noise(name="drift, rho 0.90", launch=_plain, rho=0.90),
    Noise(name="drift, rho 0.95", launch=_plain, rho=0.95),
    Noise(name="drift, rho 0.99", launch=_plain, rho=0.99),
    Noise(name="launch lottery", launch=_lottery),
    Noise(name="hits -12..-40 %", launch=_hits),
    Noise(name="mixture, 20 % 3 sd", launch=_mixture),
    Noise(name="own sd, 1/3..3", launch=_mixed_sds),
    Noise(name="one 5 x variance", launch=_unequal(5)),
    Noise(name="one 25 x variance", launch=_unequal(25)),
    Noise(name="all, rho 0.95", launch=_everything, rho=0.95),
)


def blocks(model: Noise, dice: Dice, races: int, stacks: int, launches: int, sd: float = SD) -> Array:
    """Return ln(throughput), (races, stacks, blocks), measured in blocks: all stacks in turn, shuffled anew."""
    drawn = model.launch(dice, (races, stacks, launches), sd)
    if model.rho is None:
        return drawn
    hour = _drift(dice, races, stacks * launches, model.rho).reshape(races, launches, stacks)
    return drawn + np.swapaxes(dice.permuted(hour, axis=-1), 1, 2)


def sequence(model: Noise, dice: Dice, races: int, stacks: int, launches: int, sd: float = SD) -> Array:
    """Return the same measured in sequence: all launches of the first stack, then all of the second, and so on."""
    drawn = model.launch(dice, (races, stacks, launches), sd)
    if model.rho is None:
        return drawn
    return drawn + _drift(dice, races, stacks * launches, model.rho).reshape(drawn.shape)


def _drift(dice: Dice, races: int, moments: int, rho: float) -> Array:
    """Return a stationary AR(1) process: the machine's speed at each measurement."""
    series = dice.normal(0, DRIFT_SD, (races, moments))
    for at in range(1, moments):
        series[:, at] = rho * series[:, at - 1] + np.sqrt(1 - rho**2) * series[:, at]
    return series
