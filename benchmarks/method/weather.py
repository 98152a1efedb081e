"""What the machine does to slices: theft of several kinds and changes of speed, and what is seen of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .covariate import Array

__all__ = ["KINDS", "SPEEDS", "THEFTS", "Kind", "Weather", "simulated"]

Dice = np.random.Generator
Shape = tuple[int, int, int]
"""Races, passes, stacks: in order of time."""

LAUNCH_SD, SLICE_SD, TICK_SD, CANARY_SD = 0.027, 0.03, 0.008, 0.005
"""Of a launch and of a slice in it; of a share that ticks of 10 ms tell of half a second; of the canary."""

_CHUNK = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """What slices met, (races, passes, stacks) in order of time.

    ``effect`` is the share that was taken, or the change of ln(speed); ``seen`` is what was measured of it.
    """

    effect: Array
    seen: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of weather.

    ``feels`` is how much of it the first stack feels, ``causes`` the share of the cores that its own helpers have,
    which counts as theft. ``own`` is the sd of how much of it each stack feels.
    """

    name: str
    met: Callable[[Dice, Shape], Weather]
    feels: float = 1.0
    causes: float = 0.0
    own: float = 0.0

    @property
    def special(self) -> bool:
        """Whether the first stack's pairs are what counts."""
        return self.feels != 1 or self.causes > 0


def _quiet(dice: Dice, shape: Shape) -> Array:
    return dice.exponential(0.003, shape)


def _mild(dice: Dice, shape: Shape) -> Array:
    return dice.exponential(0.03, shape)


def _heavy(dice: Dice, shape: Shape) -> Array:
    """Three slices in ten lose 5 to 50 %."""
    return np.where(dice.random(shape) < 0.3, dice.uniform(0.05, 0.5, shape), dice.exponential(0.01, shape))


def _lasting(dice: Dice, shape: Shape) -> Array:
    """About 4 %, which stays for some ten slices: ln of it is AR(1) with rho 0.9."""
    series = dice.normal(size=(shape[0], shape[1] * shape[2]))
    for at in range(1, series.shape[1]):
        series[:, at] = 0.9 * series[:, at - 1] + math.sqrt(1 - 0.9**2) * series[:, at]
    return 0.04 * np.exp(series.reshape(shape) - 0.5)


def _early(dice: Dice, shape: Shape) -> Array:
    """The first of each pass lose 10 %, the last nothing."""
    fading = np.linspace(1, 0, shape[2]) ** 2
    return dice.exponential(0.01, shape) + 0.10 * fading * dice.uniform(0.5, 1.5, (*shape[:2], 1))


def _theft(share: Callable[[Dice, Shape], Array]) -> Callable[[Dice, Shape], Weather]:
    def met(dice: Dice, shape: Shape) -> Weather:
        stolen = np.minimum(share(dice, shape), 0.8)
        return Weather(effect=stolen, seen=stolen + dice.normal(0, TICK_SD, shape))

    return met


THEFTS = (
    Kind(name="quiet", met=_theft(_quiet)),
    Kind(name="mild, 3 %", met=_theft(_mild)),
    Kind(name="heavy bursts", met=_theft(_heavy)),
    Kind(name="lasting, rho 0.9", met=_theft(_lasting)),
    Kind(name="early in a pass", met=_theft(_early)),
    Kind(name="heavy, felt +- 20 %", met=_theft(_heavy), own=0.2),
    Kind(name="one feels 0.3, mild", met=_theft(_mild), feels=0.3),
    Kind(name="one feels 0.3, heavy", met=_theft(_heavy), feels=0.3),
    Kind(name="one feels 0.3, last.", met=_theft(_lasting), feels=0.3),
    Kind(name="helpers 3 %, quiet", met=_theft(_quiet), causes=0.03),
    Kind(name="helpers 2 %, mild", met=_theft(_mild), causes=0.02),
)
"""The covariate is ln(1 − share), so that its slope is 1 for a stack that needs all of its core."""

_STEPS, _GAP = 10, 3
"""A slice, and the gap after it, in steps of 50 ms."""


def _speed(step: Callable[[Dice, Array], Array], start: Callable[[Dice, int], Array], sd: Callable[[Array], Array]):
    def met(dice: Dice, shape: Shape) -> Weather:
        state = start(dice, shape[0])
        effect, seen = np.empty((2, shape[0], shape[1] * shape[2]))
        for at in range(effect.shape[1]):
            told = [sd(state)]
            for _ in range(_STEPS):
                state = step(dice, state)
                told.append(sd(state))
            effect[:, at] = np.mean(told[:-1], axis=0)
            seen[:, at] = (told[0] + told[-1]) / 2 + dice.normal(0, CANARY_SD, shape[0])
            for _ in range(_GAP):
                state = step(dice, state)
        return Weather(effect=effect.reshape(shape), seen=seen.reshape(shape))

    return met


def _wander(dice: Dice, state: Array) -> Array:
    return 0.999 * state + math.sqrt(1 - 0.999**2) * dice.normal(size=len(state))


def _toggle(dice: Dice, state: Array) -> Array:
    """A slow spell lasts 0.3 s in the mean; a fifth of the time is slow."""
    return np.where(dice.random(len(state)) < np.where(state > 0, 1 / 6, 1 / 24), 1 - state, state)


SPEEDS = (
    Kind(name="speed wanders, 10 %", met=_speed(_wander, lambda dice, n: dice.normal(size=n), lambda s: 0.1 * s)),
    Kind(
        name="speed in bursts",
        met=_speed(_toggle, lambda dice, n: (dice.random(n) < 0.2).astype(float), lambda s: -0.35 * s),
    ),
)
"""The covariate is ln of the speed that the canary saw before and after the slice, their mean."""

KINDS = (*THEFTS, *SPEEDS)


def simulated(kind: Kind, stacks: int, slices: Sequence[int], races: int, seed: int) -> Iterator[tuple[Array, ...]]:
    """Yield ln(throughput), the covariate, (races, stacks, passes), and each stack's true mean, in chunks."""
    block = np.repeat(np.arange(len(slices)), slices)
    for start in range(0, races, _CHUNK):
        dice = np.random.default_rng([seed, stacks, *slices, start])
        count = min(_CHUNK, races - start)
        met = kind.met(dice, (count, len(block), stacks))
        order = np.argsort(dice.random(met.effect.shape), axis=-1)
        effect, seen = (
            np.swapaxes(np.take_along_axis(each, order, axis=-1), 1, 2) for each in (met.effect, met.seen)
        )
        feels = 1 + kind.own * dice.normal(size=(stacks, 1))
        feels[0] *= kind.feels
        if kind in THEFTS:
            effect = np.log1p(-np.clip(feels * effect, 0, 0.95))
            seen = seen.copy()
            seen[:, 0] += kind.causes
            seen = np.log1p(-np.clip(seen, -0.5, 0.95))
        launches = dice.normal(0, LAUNCH_SD, (count, stacks, len(slices)))[..., block]
        values = effect + launches + dice.normal(0, SLICE_SD, effect.shape)
        truth = effect.mean(axis=(0, 2)) if kind.own or kind.feels != 1 else np.zeros(stacks)
        yield values, seen, truth
