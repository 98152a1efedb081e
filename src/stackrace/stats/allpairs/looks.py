"""Looking at a race while it runs: when one may, and what each look says about every pair."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..family import Family, widened
from ..limits import critical
from ..pairs import Array, pairs
from .shrunken import shrunken

__all__ = ["ALPHA", "LOOKS", "followed", "last_look", "look"]

LOOKS = (5, 7, 10, 14, 20, 28, 40)
"""The numbers of blocks after which a race may decide something."""

ALPHA = 0.007
"""Each look's chance of a false order somewhere in a family.

Seven looks at identical stacks, simulated for 2, 3, 5, 8, 12 and 20 of them, order some pair falsely in 0.3 to 4 %
of 2,000 races: independent noise, drift within blocks (AR(1), ρ = 0.9 to 0.99), a launch lottery, hits of 12 to
40 %, mixtures, an sd of each stack's own (up to 9 to 1), one stack with 5 or 25 times the others' variance.
benchmarks/method/simulations.py prints the table.
"""

_STEP = 0.01
"""Degrees of freedom are rounded down to steps of a per cent: each takes a quadrature, and pairs are many."""


def last_look(blocks: int) -> int:
    """Return the last planned look within ``blocks`` blocks, 0 before the first."""
    return max((n for n in LOOKS if n <= blocks), default=0)


def look(values: Sequence[Sequence[float]] | Array, alpha: float = ALPHA) -> Family:
    """Return every pair's trimmed difference with its simultaneous half-width H = c·√(ṽ/n).

    ``values`` has shape (K, B), K ≥ 1: ln of the response by stack and block, NaN where there is none. Of many
    races at once, (…, K, B), it gives as many families.
    ``alpha`` is the chance that any of the pairs of identical stacks looks different in this one look.

    Source: see `pairs`, `shrunken` and `critical`, which this joins.
    """
    all_pairs = pairs(np.asarray(values, dtype=float))
    variance, nu = shrunken(all_pairs)
    k = nu.shape[-1]
    width = np.full(nu.shape, np.nan)
    steps = np.floor(np.log(np.where(all_pairs.df > 0, nu, 1.0)) / _STEP)
    for step in np.unique(steps[all_pairs.df > 0]):
        width[steps == step] = critical(k, math.exp(step * _STEP), alpha)
    return widened(all_pairs, variance, width)


def followed(values: Sequence[Sequence[float]] | Array) -> Family:
    """Return what all looks up to now say: the latest about each pair that has a new block to speak of.

    A pair whose common blocks ended at an earlier look, because one of the two was dropped then, keeps what
    that look said: the decision that dropped it stands, whatever the variance of the others does later.

    ``values`` as for `look`, columns in order of time.
    """
    array = np.asarray(values, dtype=float)
    final = look(array)
    estimate, half_width = final.estimate.copy(), final.half_width.copy()
    for n in reversed([n for n in LOOKS if n < array.shape[1]]):
        then = look(array[:, :n])
        ended = then.blocks == final.blocks
        if not (ended & ~np.eye(len(array), dtype=bool)).any():
            break
        estimate[ended], half_width[ended] = then.estimate[ended], then.half_width[ended]
    return Family(estimate=estimate, half_width=half_width, blocks=final.blocks)
