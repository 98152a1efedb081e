"""Simulated races, judged by the very functions that judge real ones: the truth is known, so errors are counted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from stackrace.stats.looks import LOOKS, Family, look

from stackrace.stats.limits import critical
from stackrace.stats.pairs import pairs
from stackrace.stats.shrink import shrunken

from .noise import SD, Array, Noise, blocks, sequence

__all__ = ["DELTA", "Curve", "coverage", "false_orders", "false_orders_cut", "power", "reversals"]

DELTA = math.log(1.05)
APART = math.log(1.03)
"""Pairs further apart than this should not be shown the wrong way round by anybody."""

_CHUNK = 200
_ENDS = 10
"""So many ends of a budget are tried within a chunk."""

_STEP = 0.01


def coverage(model: Noise, stacks: int, races: int, seed: int) -> tuple[float, ...]:
    """Return by look the share of identical pairs whose own 95 % limits (a t quantile, no family) hold 0."""
    held: dict[int, list[float]] = {n: [] for n in LOOKS}
    away = ~np.eye(stacks, dtype=bool)
    for drawn in _chunks(model, stacks, races, seed):
        for n in LOOKS:
            found = pairs(drawn[..., :n])
            variance, nu = (each[..., away] for each in shrunken(found))
            score = np.abs(found.estimate[..., away]) / np.sqrt(variance / n)
            held[n].append(float((score <= _quantile(nu)).mean()))
    return tuple(float(np.mean(held[n])) for n in LOOKS)


def false_orders(model: Noise, stacks: int, races: int, seed: int) -> float:
    """Return the share of races of identical stacks in which any look orders any pair."""
    false = 0
    for drawn in _chunks(model, stacks, races, seed):
        false += _false(drawn, LOOKS)
    return false / races


def false_orders_cut(model: Noise, stacks: int, races: int, seed: int) -> float:
    """Return the same of races that their budget ends after 2 to 40 blocks, each as likely as any other.

    Then the last standing is one more look, at a number of blocks that nobody planned.
    """
    false = 0
    for at, drawn in enumerate(_chunks(model, stacks, races, seed)):
        dice = np.random.default_rng([seed, stacks, at, 2])
        for some in np.array_split(drawn, _ENDS):
            end = int(dice.integers(2, LOOKS[-1], endpoint=True))
            false += _false(some, (*(n for n in LOOKS if n < end), end))
    return false / races


def _false(drawn: Array, looks: Iterable[int]) -> int:
    return int(np.any([_apart(look(drawn[..., :n])) for n in looks], axis=0).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """How races for a winner went, whose best stack is a given difference ahead of all others.

    Shares of races: ``answered`` within 40 blocks; ``right``: the best stack was named; ``ordered``: it was proved
    better than a given other one by then. ``blocks`` is the median number used, 40 for those without an answer.
    """

    answered: float
    right: float
    ordered: float
    blocks: float


def power(model: Noise, stacks: int, difference: float, sd: float, races: int, seed: int) -> Curve:
    """Race stacks of which the first is ``difference`` ahead, 0.05 for 5 %, until somebody wins."""
    used, named, ordered = [], [], []
    for drawn in _chunks(model, stacks, races, seed, sd):
        drawn[:, 0] += math.log1p(difference)
        end = np.full(len(drawn), LOOKS[-1] + 1)
        first = np.full(len(drawn), -1)
        proved = np.zeros(len(drawn), dtype=bool)
        for n in LOOKS:
            family = look(drawn[..., :n])
            proved |= family.estimate[:, 0, 1] > family.half_width[:, 0, 1]
            near = (family.estimate - family.half_width > -DELTA) | np.eye(stacks, dtype=bool)
            winning = near.all(axis=-1)
            ahead = np.where(winning, family.estimate.min(axis=-1), -np.inf)
            now = winning.any(axis=-1) & (end > LOOKS[-1])
            first[now], end[now] = ahead.argmax(axis=-1)[now], n
        used.append(end)
        named.append(first == 0)
        ordered.append(proved)
    ends = np.concatenate(used)
    return Curve(
        answered=float((ends <= LOOKS[-1]).mean()),
        right=float(np.concatenate(named).mean()),
        ordered=float(np.concatenate(ordered).mean()),
        blocks=float(np.median(np.minimum(ends, LOOKS[-1]))),
    )


def reversals(model: Noise, stacks: int, races: int, seed: int) -> dict[str, float]:
    """Return the share of races that show some pair the wrong way round although it is more than 3 % apart.

    The stacks' true speeds lie anywhere within 30 % of one another. Beside blocks with planned looks: three runs of
    each stack in sequence, compared by their means, and by their best.
    """
    wrong = {"blocks and looks": 0, "three sequential means": 0, "best of three": 0}
    for at, drawn in enumerate(_chunks(model, stacks, races, seed)):
        dice = np.random.default_rng([seed, at, 1])
        truth = dice.uniform(0, math.log(1.3), (len(drawn), stacks))
        true = truth[:, :, None] - truth[:, None, :]
        raced = drawn + truth[..., None]
        shown = np.zeros(true.shape, dtype=bool)
        for n in LOOKS:
            family = look(raced[..., :n])
            shown |= family.estimate > family.half_width
        runs = sequence(model, dice, len(drawn), stacks, 3) + truth[..., None]
        means, bests = runs.mean(axis=-1), runs.max(axis=-1)
        for name, claims in (
            ("blocks and looks", shown),
            ("three sequential means", means[:, :, None] > means[:, None, :]),
            ("best of three", bests[:, :, None] > bests[:, None, :]),
        ):
            wrong[name] += int((claims & (true < -APART)).any(axis=(-2, -1)).sum())
    return {name: many / races for name, many in wrong.items()}


def _chunks(model: Noise, stacks: int, races: int, seed: int, sd: float = SD) -> Iterator[Array]:
    for start in range(0, races, _CHUNK):
        dice = np.random.default_rng([seed, stacks, start])
        yield blocks(model, dice, min(_CHUNK, races - start), stacks, LOOKS[-1], sd)


def _apart(family: Family) -> Array:
    return (np.abs(family.estimate) > family.half_width).any(axis=(-2, -1))


def _quantile(nu: Array) -> Array:
    """Return the two-sided 95 % t quantiles, ν rounded down to steps of a per cent as in `look`."""
    steps = np.floor(np.log(nu) / _STEP)
    found = np.empty_like(nu)
    for step in np.unique(steps):
        found[steps == step] = critical(2, math.exp(step * _STEP), 0.05)
    return found
