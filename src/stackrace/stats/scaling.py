"""Growth of throughput with load: the knee where it ends, and the scaling law that its curve follows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..base.numbers import Interval
from .bootstrap import expanded
from .contrasts import contrasts
from .judge import best
from .limits import critical
from .pairs import Array, Flags
from .values import ScalingLaw, Unfit, UnfitKind

_LEAST_LEVELS = 6
"""Fewest levels for a fit: a law with three parameters goes through nearly anything less."""

_MOST_RESIDUAL = 0.05
"""Largest deviation of the levels from a curve with which the curve still counts as a fit."""

_CONFIDENCE = 0.95
_SEED = 1993
_ROUNDS = 60
_CLOSE = 1e-6


def knee(
    levels: Sequence[float], values: Sequence[Sequence[float]] | Array, confidence: float = _CONFIDENCE
) -> int | None:
    """Return the index of the smallest level that is not significantly below the best one; None without limits.

    The best level is the one ahead of the others by estimate. Pairs of levels are compared like pairs of stacks: by
    differences within blocks, all limits of the family holding together. None if the best level and another share
    fewer than two blocks. Wide limits give a knee at low load: a knee means "no gain was seen beyond", not "there
    is no gain".

    ``levels`` are connections, in any order; ``values`` has shape (L, B), ln of throughput by level and block,
    NaN if there is none. Raise ValueError if the two do not fit together.

    Source: see `stats.pairs` and `stats.limits`.
    """
    array = _checked(levels, values)
    if len(array) < 2:
        return None
    family = contrasts(array).family(critical, len(array), 1 - confidence)
    top = best(family.estimate, range(len(array)))
    if not np.isfinite(family.half_width[top]).all():
        return None
    below = family.estimate[top] - family.half_width[top] > 0
    return min((i for i in range(len(array)) if not below[i]), key=lambda i: levels[i])


def fit(
    levels: Sequence[float], values: Sequence[Sequence[float]] | Array, *, draws: int = 2000
) -> ScalingLaw | Unfit:
    """Return the Universal Scalability Law fitted to the levels' mean throughputs, with limits by block bootstrap.

    The law is linear in its inverse: N/X = a + b(N − 1) + cN(N − 1) with λ = 1/a, σ = b/a, κ = c/a. Noise is in
    proportion to X, so the rows are weighted by the fitted inverse, repeatedly until nothing changes; b and c are
    kept from falling below 0. For the limits whole blocks are drawn with replacement, ``draws`` times with a fixed
    seed, so that effects of a moment on all levels stay together; see `bootstrap.expanded`.

    ``levels`` are connections, each ≥ 1; ``values`` has shape (L, B), ln of answers per second, NaN if there is
    none. Unfit with fewer than ``_LEAST_LEVELS`` different levels that have values, without convergence, or if the
    levels are off the curve by more than ``_MOST_RESIDUAL`` (√(Σ(ln X − ln fitted)²/(L − 3))).

    Source: Gunther 2007, Guerrilla Capacity Planning, chapter 5; Gunther, Puglia & Tomasette 2015, Hadoop
    superlinear scalability, CACM 58(4); weights: McCullagh & Nelder 1989, Generalized Linear Models, section 8.3.
    """
    array = _checked(levels, values)
    kept = np.flatnonzero(np.isfinite(array).any(axis=1))
    known = np.asarray(levels, dtype=float)[kept]
    distinct = len(np.unique(known))
    if distinct < _LEAST_LEVELS:
        return Unfit(kind=UnfitKind.FEW_LEVELS, levels=distinct, levels_needed=_LEAST_LEVELS)
    array = array[kept]
    curve, settled = _curves(known, np.nanmean(array, axis=1)[None])
    if not settled[0]:
        return Unfit(kind=UnfitKind.DIVERGED, levels=distinct, levels_needed=_LEAST_LEVELS)
    missed = np.nanmean(array, axis=1) + np.log(_inverse(known, curve)[0] / known)
    residual = math.sqrt(float(missed @ missed) / (len(known) - 3))
    if residual > _MOST_RESIDUAL:
        return Unfit(kind=UnfitKind.OFF_THE_CURVE, levels=distinct, levels_needed=_LEAST_LEVELS, residual=residual)
    drawn = _drawn(known, array, draws)
    figures = zip(_figures(curve), _figures(drawn), strict=True)
    single, sigma, kappa, peak = (_interval(value, many, array.shape[1]) for value, many in figures)
    return ScalingLaw(
        single_per_s=single,
        contention=sigma,
        coherency=kappa,
        peak=peak if math.isfinite(peak.value) else None,
        residual=residual,
    )


def _checked(levels: Sequence[float], values: Sequence[Sequence[float]] | Array) -> Array:
    array = np.asarray(values, dtype=float)
    if array.ndim != 2 or len(array) != len(levels) or not all(level >= 1 for level in levels):
        raise ValueError("throughputs come as one row of blocks for each level of 1 connection or more")
    return array


def _drawn(levels: Array, array: Array, draws: int) -> Array:
    """Return the curves of ``draws`` times B blocks drawn with replacement, if they converged."""
    blocks = array.shape[1]
    if blocks < 2:
        return np.empty((0, 3))
    picks = np.random.default_rng(_SEED).integers(0, blocks, (draws, blocks))
    weights = (picks[:, :, None] == np.arange(blocks)).sum(axis=1).astype(float)
    there = np.isfinite(array)
    shares = weights @ there.T
    whole = (shares > 0).all(axis=1)
    curves, settled = _curves(levels, (weights @ np.where(there, array, 0.0).T)[whole] / shares[whole])
    return curves[settled]


def _curves(levels: Array, logs: Array) -> tuple[Array, Flags]:
    """Return (a, b, c) for each row of ``logs`` (D, L), and True for each row that converged with a > 0."""
    target = levels / np.exp(logs)
    fitted = target
    curves = np.full((len(logs), 3), np.nan)
    settled = np.zeros(len(logs), dtype=bool)
    for _ in range(_ROUNDS):
        curves = _solved(levels, target, 1 / fitted)
        new = _inverse(levels, curves)
        settled = (np.abs(new / fitted - 1) < _CLOSE).all(axis=1) & (curves[:, 0] > 0)
        if settled.all():
            break
        fitted = np.where(new > 0, new, target)
    return curves, settled


def _solved(levels: Array, target: Array, weights: Array) -> Array:
    """Return the least squares with b, c ≥ 0: the best allowed of four solutions, with b, c, both or none at 0."""
    basis = np.stack([np.ones_like(levels), levels - 1, levels * (levels - 1)], axis=-1)
    basis = basis / basis.max(axis=0)
    rows = basis * weights[..., None]
    aim = target * weights
    best_curve, least = np.full((len(target), 3), np.nan), np.full(len(target), np.inf)
    for free in ([0], [0, 1], [0, 2], [0, 1, 2]):
        part = rows[..., free]
        normal = np.swapaxes(part, 1, 2) @ part
        solved = np.linalg.solve(normal, np.swapaxes(part, 1, 2) @ aim[..., None])[..., 0]
        off = (((part @ solved[..., None])[..., 0] - aim) ** 2).sum(axis=1)
        better = (solved >= 0).all(axis=1) & (off < least)
        curve = np.zeros((len(target), 3))
        curve[:, free] = solved
        best_curve[better], least[better] = curve[better], off[better]
    scale: Array = np.array([1.0, (levels - 1).max(), (levels * (levels - 1)).max()])
    return np.asarray(best_curve / scale)


def _inverse(levels: Array, curves: Array) -> Array:
    a, b, c = curves.T[..., None]
    return np.asarray(a + b * (levels - 1) + c * levels * (levels - 1))


def _figures(curves: Array) -> tuple[Array, Array, Array, Array]:
    """Return λ, σ, κ and N* of each curve; N* is infinite if throughput never falls."""
    a, b, c = curves.T
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma, kappa = b / a, c / a
        square = np.where(kappa > 0, (1 - sigma) / kappa, np.inf)
    return 1 / a, sigma, kappa, np.sqrt(np.maximum(square, 1.0))


def _interval(value: Array, drawn: Array, blocks: int) -> Interval:
    low, high = expanded(drawn, blocks, _CONFIDENCE) if len(drawn) else (None, None)
    return Interval(value=float(value[0]), low=low, high=high)
