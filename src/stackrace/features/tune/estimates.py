"""What launches say of each configuration, of those like it, and of each setting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from ...stats.limits import critical, each
from ...stats.pairs import Array, Counts
from .model import Knob
from .weather import Flags, distance, log_likelihood


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """K configurations in B blocks, on a grid of D settings."""

    values: Array
    """(K, B): the response in ln units by block, without the machine's weather; NaN where a configuration was not
    launched, or gave nothing."""
    entered: Flags
    """(K, B): whether it was launched."""
    places: Array
    """(K, D): steps on the grid, NaN off it."""
    delta: float
    """The difference that does not matter, in ln units."""
    references: tuple[int, ...] = ()
    """Those that the best one is compared with: they race again beside the finalists."""
    out: tuple[int, ...] = ()
    """Those that are not possible, or failed."""
    strangers: tuple[int, ...] = ()
    """References that are none of the configurations: they are compared with, and never chosen."""
    reserve: tuple[int, ...] = ()
    """Configurations beyond the usual values: they race only where the best lies at that end."""

    @property
    def waiting(self) -> tuple[int, ...]:
        """Those of the reserve that were never launched."""
        return tuple(i for i in self.reserve if not self.entered[i].any())

    @property
    def field(self) -> int:
        """How many configurations there are to choose from."""
        return len(self.values) - len(self.strangers) - len(self.waiting)


_PRIOR_SD, _PRIOR_DF = 0.03, 2.0
"""What a launch is taken to vary by before any configuration was launched twice, and how many degrees of freedom
that counts for afterwards."""

_LEAST_SD = 0.005
"""Nothing is taken to repeat better than this: a few launches may agree by chance."""

_OWN_DF = 3.0
"""So many degrees of freedom the common variance counts for beside a configuration's own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Launched:
    """Estimates for K configurations, in ln units."""

    mean: Array
    """(K,): the response without the blocks' own effects; NaN where nothing was measured."""
    count: Counts
    """(K,): launches with a value."""
    sd: Array
    """(K,): what a launch of each varies by, its own variance leaning on that of all."""
    df: Array
    """(K,): degrees of freedom of ``sd``."""
    common_df: float
    """Those of what all ``sd`` lean on: several together have no more."""


def launched(values: Array) -> Launched:
    """Return what ``values``, (K, B) with NaN where a configuration was not launched, say of each.

    y_ib = m_i + b_b + e_ib by least squares, the b of the blocks adding to 0. A launch's variance s_i² comes from
    the residuals of configurations with two launches and more. It leans on the common one, s̃_i² = (d0·s̄² +
    f_i·s_i²)/(d0 + f_i) with f_i = n_i − 1, so that a scattering configuration shows and a lucky one does not.

    Source: Smyth 2004, Linear models and empirical Bayes methods, Statistical Applications in Genetics and
    Molecular Biology 3(1).
    """
    there = np.isfinite(values)
    count = there.sum(axis=1)
    mean, block = _fitted(values, there)
    residual = np.where(there, values - mean[:, None] - block[None, :], 0.0)
    # a single launch tells nothing of what it varies by
    squares = np.where(count >= 2, (residual**2).sum(axis=1), 0.0)
    # the blocks' effects take degrees of freedom, too: each launched configuration gives its share
    own = np.maximum(count - 1.0, 0.0)
    lost = min(max(there[count >= 2].any(axis=0).sum() - 1, 0), own.sum() / 2)
    df = own * (1 - lost / max(own.sum(), 1.0))
    common = _common(squares, df)
    variance = (_OWN_DF * common + squares) / (_OWN_DF + df)
    return Launched(
        mean=np.where(count > 0, mean, np.nan),
        count=count,
        sd=np.sqrt(np.maximum(variance, _LEAST_SD**2)),
        df=_OWN_DF + df,
        common_df=_PRIOR_DF + float(df.sum()),
    )


def _fitted(values: Array, there: Flags) -> tuple[Array, Array]:
    """Alternate between the means of configurations and of blocks: the least squares of a two-way layout."""
    filled, block = np.where(there, values, 0.0), np.zeros(values.shape[1])
    per_row, per_column = np.maximum(there.sum(axis=1), 1), np.maximum(there.sum(axis=0), 1)
    for _ in range(60):
        mean = (filled - there * block).sum(axis=1) / per_row
        fresh = (filled - there * mean[:, None]).sum(axis=0) / per_column
        fresh = fresh - fresh[:1]
        if np.abs(fresh - block).max(initial=0.0) < 1e-9:
            break
        block = fresh
    # the mean of a moment's weather belongs to all
    level = block.sum() / max(len(block), 1)
    return mean + level, block - level


def _common(squares: Array, df: Array) -> float:
    """Return the common variance: the weighted mean of those below three times the median sd, and of the prior."""
    known = df > 0
    if not known.any():
        return _PRIOR_SD**2
    own = squares[known] / df[known]
    usual = own <= 9 * max(float(np.median(own)), _LEAST_SD**2)
    whole, held = squares[known][usual].sum(), df[known][usual].sum()
    return float((_PRIOR_DF * _PRIOR_SD**2 + whole) / (_PRIOR_DF + held))


_LENGTHS = (0.7, 1.5, 3.0)
"""How many steps of a setting apart two configurations are still alike."""
_ROUGHNESS = (0.01, 0.03, 0.08, 0.2)
"""The sd of what a configuration has for itself, in ln units."""


class Surface(NamedTuple):
    """The response of K configurations, in ln units."""

    mean: Array
    """(K,): what is expected."""
    sd: Array
    """(K,): how far the truth may lie from it, one standard deviation."""
    rough: float
    """The sd of what neighbours differ by that no setting explains. One launch cannot tell it from chance."""


def surface(known: Launched, places: Array) -> Surface:
    """Return what the launches say of each configuration, and of those like it.

    ``places``, (K, D), holds steps on the grid; a configuration off the grid has NaN and is like no other. The
    response is a Gaussian process over the steps, a squared exponential with what each configuration has for itself
    beside it; lengths and roughness are those under which the launches are the most likely.

    Source: Rasmussen & Williams 2006, Gaussian Processes for Machine Learning, algorithm 2.1 and section 5.4.
    """
    seen = np.flatnonzero(known.count > 0)
    values = known.mean[seen]
    if len(seen) < 2:
        return Surface(known.mean, np.where(known.count > 0, known.sd, np.inf), 0.0)
    level, spread = float(np.median(values)), max(float(np.var(values)), 1e-6)
    chance = np.diag(known.sd[seen] ** 2 / known.count[seen])
    apart = distance(places)[:, seen]

    def covariance(length: float, rough: float) -> Array:
        """Return that of all with those that were launched, (K, N)."""
        across = spread * np.exp(-apart / (2 * length**2))
        across[seen] += rough**2 * np.eye(len(seen))
        return np.asarray(across)

    length, rough = max(
        product(_LENGTHS, _ROUGHNESS),
        key=lambda choice: log_likelihood(covariance(*choice)[seen] + chance, values - level),
    )
    across = covariance(length, rough)
    weights = across @ np.linalg.inv(across[seen] + chance)
    variance = spread + rough**2 - (weights * across).sum(axis=1)
    return Surface(level + weights @ (values - level), np.sqrt(np.maximum(variance, 1e-8)), rough)


_ALPHA = 0.05

_LEAST_LAUNCHES = 2
"""Each of two values that are compared stands on so many launches at least: one says nothing of the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What one setting does."""

    server: str
    name: str
    matters: bool
    """False where all its values are within the difference that does not matter, with 95 % confidence."""
    known: bool
    """Whether that is known: if not, it may or may not matter."""
    span: float
    """How far its best and its worst value lie apart on the average over the others: 0.2 for 20 %."""
    span_high: float | None = None
    """How far at most."""
    best: str = ""
    """Its best value on the average."""


def main_effects(grid: Grid, knobs: Sequence[Knob]) -> tuple[Effect, ...]:
    """Return the effect of every knob among the configurations that were launched and are possible.

    For two values of a setting, the mean difference of the configurations that differ in nothing else, each pair
    weighted alike. Its variance is that of the launches, Σ(s_i²/n_i + s_j²/n_j)/m² with Welch's degrees of freedom,
    no more than the common variance has; or what the m pairs' own differences scatter by, with m − 1, whichever is
    larger. The half-width of each difference is that of the Tukey family of the setting's values. So a setting that
    helps here and hurts there has no narrow limits, and is not called idle.

    Nothing is known before any configuration was launched twice: until then what a launch varies by is a guess. Two
    values are compared only where each stands on ``_LEAST_LAUNCHES``. A setting with a value that cannot be
    compared may matter, but is not called idle.

    Source: Tukey 1953, The problem of multiple comparisons; Box, Hunter & Hunter 2005, Statistics for
    Experimenters, chapter 5, for main effects; Welch 1938, Biometrika 29.
    """
    known = launched(grid.values)
    usable = known.count > 0
    usable[[*grid.out, *grid.strangers]] = False
    return tuple(_effect(grid, d, knob, usable, known) for d, knob in enumerate(knobs))


def _effect(grid: Grid, d: int, knob: Knob, usable: Flags, known: Launched) -> Effect:
    steps = sorted({float(step) for step in grid.places[usable, d] if np.isfinite(step)})
    at = {step: np.flatnonzero(usable & (grid.places[:, d] == step)) for step in steps}
    others = np.delete(grid.places, d, axis=1)
    found = {}
    for low, high in combinations(steps, 2):
        pairs = np.array([(i, j) for i in at[low] for j in at[high] if np.array_equal(others[i], others[j])])
        sides = [known.count[np.unique(side)].sum() for side in pairs.T]
        if sides and min(sides) >= _LEAST_LAUNCHES:
            found[low, high] = _difference(pairs, known)
    if not found or known.common_df <= _PRIOR_DF:
        return Effect(server=knob.server, name=knob.name, matters=True, known=False, span=0.0)
    difference, variance, df = np.array([*found.values()]).T
    half = each(critical, len(steps), df, _ALPHA) * np.sqrt(variance)
    sizes = np.abs(difference)
    is_whole = {*steps} <= {step for both in found for step in both}
    most = float((sizes + half).max()) if is_whole else math.inf
    widest = int(sizes.argmax())
    best = [*found][widest][int(difference[widest] > 0)]
    return Effect(
        server=knob.server,
        name=knob.name,
        matters=most > grid.delta,
        known=most <= grid.delta or float((sizes - half).max()) > grid.delta,
        span=math.expm1(float(sizes.max())),
        span_high=math.expm1(most) if is_whole else None,
        best=dict(zip(knob.steps, knob.ladder, strict=True)).get(best, ""),
    )


def _difference(pairs: Counts, known: Launched) -> tuple[float, float, float]:
    """Return the mean of how much better the second of each pair is, its variance, and the degrees of freedom.

    ``pairs`` has shape (m, 2).
    """
    m = len(pairs)
    own = known.sd[pairs] ** 2 / known.count[pairs] / m**2
    variance = float(own.sum())
    df = min(variance**2 / float((own**2 / known.df[pairs]).sum()), known.common_df)
    differences = known.mean[pairs[:, 1]] - known.mean[pairs[:, 0]]
    scatter = float(np.var(differences, ddof=1)) / m if m > 1 else 0.0
    if scatter > variance:
        variance, df = scatter, m - 1.0
    return float(differences.mean()), variance, df
