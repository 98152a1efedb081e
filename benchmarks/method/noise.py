"""Models of what disturbs a measurement: what a launch draws for itself, what the hour does, what others take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from stackrace.validity.cores import MOST_TAKEN

Array = npt.NDArray[np.float64]
Dice = np.random.Generator

MOST_STOLEN = 0.4
"""Up to so much of the machine is taken."""

COMES, GOES = 0.03, 0.1
"""The chances per measurement that a burst begins, and that it ends: it lasts for ten measurements in the mean."""

_RHO = 0.95


def bursts(dice: Dice, races: int, moments: int, most: float = MOST_STOLEN) -> Array:
    """Return ln(1 − share), (races, moments): bursts of a two-state Markov process, each of 0 to ``most``."""
    return np.log1p(-_spells(dice, races, moments, 0.0, most))


def _spells(dice: Dice, races: int, moments: int, least: float, most: float, comes: float = COMES) -> Array:
    shares = np.zeros((races, moments))
    own = dice.uniform(least, most, (races, moments))
    chance = dice.random((races, moments))
    taken = np.where(dice.random(races) < comes / (comes + GOES), dice.uniform(least, most, races), 0.0)
    for at in range(moments):
        ends, begins = chance[:, at] < GOES, chance[:, at] < comes
        taken = np.where(taken > 0, np.where(ends, 0.0, taken), np.where(begins, own[:, at], 0.0))
        shares[:, at] = taken
    return shares


def wandering(dice: Dice, races: int, moments: int) -> Array:
    """Return ln(1 − share), (races, moments): the share goes up and down between 0 and 40 % and never jumps.

    It is 0.4·Φ(z), z a stationary AR(1) process with ρ = 0.95 from one measurement to the next.
    """
    return np.log1p(-_wanders(dice, races, moments))


def _wanders(dice: Dice, races: int, moments: int) -> Array:
    # Φ(z) to 2 %: 1/(1 + exp(−1.702z)) (Haley 1952)
    return np.asarray(MOST_STOLEN / (1 + np.exp(-1.702 * _stationary(dice, races, moments, 1.0, _RHO))))


def _stationary(dice: Dice, races: int, moments: int, sd: float, rho: float) -> Array:
    """Return a stationary AR(1) process, ``rho`` from one measurement to the next."""
    series = dice.normal(0, sd, (races, moments))
    for at in range(1, moments):
        series[:, at] = rho * series[:, at - 1] + np.sqrt(1 - rho**2) * series[:, at]
    return series


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """Another program on the stacks' core.

    ``wants`` draws what share of each moment it would have of a core by itself, (races, moments). A ``light`` one
    works that off whoever else is there, as long as this is no more than its fair share. Any other is ready to run
    for so long, and gets its fair share of that time.
    """

    name: str
    wants: Callable[[Dice, int, int], Array]
    light: bool = False

    def taken(self, wanted: Array, ready: Array) -> Array:
        """Return the share of the core that it takes from a stack with so many processes ready to run.

        The scheduler shares a core out equally among all that are ready: the fair share is 1/(ready + 1), counted
        0.50, 0.33, 0.21 and 0.12 beside 1, 2, 4 and 8. Where Linux weighs sessions against each other (autogroup),
        this holds within one.
        """
        fair = 1 / (ready + 1)
        return np.minimum(wanted, fair) if self.light else wanted * fair


def _half_seconds(dice: Dice, races: int, moments: int) -> Array:
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


Hour = Callable[[Dice, int, int], Array]

SD = 0.05
"""The standard deviation of one launch's ln(throughput), unless a model says otherwise."""

DRIFT_SD = 0.10

READY = (1, 2, 4, 8)
"""So many processes of a stack may be ready to run at once, each number as likely. The fair share of a neighbour is
a ninth at least, more than the limit; beside ten and more it would be less."""

TRIES = 3
"""So many slices are made at most until one is valid; a launch without a valid one counts nowhere."""

SEEN_SD = 0.01
"""How far the share that a neighbour was seen to take is off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contention:
    """A neighbour on the stacks' core, and what becomes of slices in which it took more than ``limit``.

    ``whole``: a block counts only if every stack has a valid slice in it. Otherwise those count that have one.
    """

    neighbour: Neighbour
    limit: float = MOST_TAKEN
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """One model.

    ``launch`` draws ln(throughput) of identical stacks, shape (races, stacks, launches), for a given sd; ``hour``
    draws what the moment does to ln(throughput), (races, moments), None for a steady machine. The first stack feels
    ``first_feels`` times as much of the moment as the others, and the mean of it alike. Under ``contention`` stacks
    suffer unequally, and launches are missing: NaN.
    """

    name: str
    launch: Callable[[Dice, tuple[int, int, int], float], Array]
    hour: Hour | None = None
    first_feels: float = 1.0
    contention: Contention | None = None


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


def _heavy(dice: Dice, shape: tuple[int, int, int], sd: float) -> Array:
    """Student's t with 3 degrees of freedom: once in a while something goes far wrong, or far right."""
    return sd * dice.standard_t(3, shape) / np.sqrt(3)


def _noisier(dice: Dice, shape: tuple[int, int, int], sd: float) -> Array:
    """Every stack has one to five times the standard deviation, any factor as likely on a logarithmic scale."""
    return _plain(dice, shape, sd) * np.exp(dice.uniform(0, np.log(5), (*shape[:2], 1)))


def _drifting(rho: float) -> Hour:
    """The machine's speed is a stationary AR(1) process, sd 10 %, ``rho`` from one measurement to the next."""
    return lambda dice, races, moments: _stationary(dice, races, moments, DRIFT_SD, rho)


OWN = (
    Noise(name="independent", launch=_plain),
    Noise(name="drift, rho 0.90", launch=_plain, hour=_drifting(0.90)),
    Noise(name="drift, rho 0.95", launch=_plain, hour=_drifting(0.95)),
    Noise(name="drift, rho 0.99", launch=_plain, hour=_drifting(0.99)),
    Noise(name="launch lottery", launch=_lottery),
    Noise(name="hits -12..-40 %", launch=_hits),
    Noise(name="mixture, 20 % 3 sd", launch=_mixture),
    Noise(name="own sd, 1/3..3", launch=_mixed_sds),
    Noise(name="one 5 x variance", launch=_unequal(5)),
    Noise(name="one 25 x variance", launch=_unequal(25)),
    Noise(name="all, rho 0.95", launch=_everything, hour=_drifting(0.95)),
)
"""The models by which the constants of `stackrace.stats.selection` were found."""

HELD_OUT = (
    Noise(name="theft in bursts", launch=_plain, hour=bursts),
    Noise(name="theft, wandering", launch=_plain, hour=wandering),
    Noise(name="theft, one feels half", launch=_plain, hour=bursts, first_feels=0.5),
    Noise(name="same, theft < 5 %", launch=_plain, hour=partial(bursts, most=0.05), first_feels=0.5),
    Noise(name="heavy tails, t3", launch=_heavy),
    Noise(name="own sd, 1..5", launch=_noisier),
)
"""Models that no constant was fitted to. Of the two in which one stack feels half of the theft, the first is a
warning: it breaks the assumption that a moment does the same to all. The second is what the checks let through."""

MODELS = (*OWN, *HELD_OUT)

CONTENDED = tuple(Noise(name=one.name, launch=_plain, contention=Contention(neighbour=one)) for one in NEIGHBOURS)
"""Models in which a launch may be missing, and for a reason that bears on its value: the more processes a stack has
ready, the less it suffers, and the less often it is refused."""


def blocks(model: Noise, dice: Dice, races: int, stacks: int, launches: int, sd: float = SD) -> Array:
    """Return ln(throughput), (races, stacks, blocks), measured in blocks: all stacks in turn, shuffled anew."""
    drawn = model.launch(dice, (races, stacks, launches), sd)
    if model.contention is not None:
        drawn = _contended(model.contention, dice, drawn)
    if model.hour is None:
        return drawn
    moments = model.hour(dice, races, stacks * launches).reshape(races, launches, stacks)
    return drawn + _felt(model, np.swapaxes(dice.permuted(moments, axis=-1), 1, 2))


def sequence(model: Noise, dice: Dice, races: int, stacks: int, launches: int, sd: float = SD) -> Array:
    """Return the same measured in sequence: all launches of the first stack, then all of the second, and so on."""
    drawn = model.launch(dice, (races, stacks, launches), sd)
    if model.hour is None:
        return drawn
    return drawn + _felt(model, model.hour(dice, races, stacks * launches).reshape(drawn.shape))


def _felt(model: Noise, moments: Array) -> Array:
    """Return what the stacks feel of the moments, (races, stacks, launches); all alike in the mean of all races."""
    if model.first_feels == 1.0:
        return moments
    felt = moments.copy()
    mean = moments.mean()
    felt[:, 0] = mean + model.first_feels * (moments[:, 0] - mean)
    return felt


def _contended(met: Contention, dice: Dice, drawn: Array) -> Array:
    """Return ``drawn`` beside a neighbour: the first slice that is not refused counts, else there is none."""
    races, stacks, launches = drawn.shape
    ready = dice.choice(READY, (races, stacks, 1, 1))
    wanted = met.neighbour.wants(dice, races, launches * stacks * TRIES).reshape(races, launches, stacks, TRIES)
    order = dice.random((races, launches, stacks, 1)).argsort(axis=2)
    taken = met.neighbour.taken(np.swapaxes(np.take_along_axis(wanted, order, axis=2), 1, 2), ready)
    valid = taken + dice.normal(0, SEEN_SD, taken.shape) <= met.limit
    felt = np.take_along_axis(taken, valid.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    values = np.where(valid.any(axis=-1), drawn + np.log1p(-felt), np.nan)
    return _whole(values) if met.whole else values


def _whole(values: Array) -> Array:
    """Return the blocks in which every stack has a value, in their order, and after them NaN."""
    whole = np.isfinite(values).all(axis=1)
    first = np.argsort(~whole, axis=-1, kind="stable")
    found = np.take_along_axis(values, first[:, None, :], axis=-1)
    return np.where(np.arange(values.shape[-1]) < whole.sum(axis=-1)[:, None, None], found, np.nan)
