"""What launches say of each configuration, of those like it, and of each setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from ....stats.limits import critical, each
from ....stats.pairs import Array, Counts
from .grid import Flags, Grid, distance

PRIOR_SD, PRIOR_DF = 0.03, 2.0
"""What a launch is taken to vary by before any configuration was launched twice, and how many degrees of freedom
that counts for afterwards."""

LEAST_SD = 0.005
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
    common_sd: float
    """The same of all together, by the median: some that scatter do not make it larger."""
    df: Array
    """(K,): degrees of freedom of ``sd``."""
    common_df: float
    """Degrees of freedom of ``common_sd``, on which every ``sd`` leans: several together have no more."""


def launched(values: Array) -> Launched:
    """Return what ``values``, (K, B) with NaN where a configuration was not launched, say of each.

    y_ib = m_i + b_b + e_ib by least squares, the b of the blocks adding to 0. A launch's
    variance s_i² comes from the residuals of configurations with two launches and more. It leans on the common one,
    s̃_i² = (d0·s̄² + f_i·s_i²)/(d0 + f_i) with f_i = n_i − 1, so that a scattering configuration shows and a lucky
    one does not.

    Source: Smyth 2004, Linear models and empirical Bayes methods, Statistical Applications in Genetics and
    Molecular Biology 3(1).
    """
    there = np.isfinite(values)
    count = there.sum(axis=1)
    mean, block = _fitted(values, there)
    residual = np.where(there, values - mean[:, None] - block[None, :], 0.0)
    # the blocks' effects take degrees of freedom, too: each launched configuration gives its share
    repeated = count >= 2
    own_df = np.where(repeated, count - 1.0, 0.0)
    lost = min(max((there[repeated].any(axis=0).sum() if repeated.any() else 0) - 1, 0), own_df.sum() * 0.5)
    share = 1 - lost / own_df.sum() if own_df.sum() > 0 else 1.0
    df = own_df * share
    squares = (residual**2).sum(axis=1)
    own = np.where(df > 0, squares / np.where(df > 0, df, 1.0), 0.0)
    common = _common(own, df)
    variance = (_OWN_DF * common + df * own) / (_OWN_DF + df)
    return Launched(
        mean=np.where(count > 0, mean, np.nan),
        count=count,
        sd=np.sqrt(np.maximum(variance, LEAST_SD**2)),
        common_sd=float(np.sqrt(common)),
        df=_OWN_DF + df,
        common_df=PRIOR_DF + float(df.sum()),
    )


def _fitted(values: Array, there: np.ndarray) -> tuple[Array, Array]:
    """Alternate between the means of configurations and of blocks: the least squares of a two-way layout."""
    filled = np.where(there, values, 0.0)
    per_row, per_column = there.sum(axis=1), there.sum(axis=0)
    block = np.zeros(values.shape[1])
    mean = np.zeros(values.shape[0])
    for _ in range(60):
        mean = np.where(per_row > 0, (filled - there * block).sum(axis=1) / np.maximum(per_row, 1), 0.0)
        fresh = np.where(
            per_column > 0, (filled - there * mean[:, None]).sum(axis=0) / np.maximum(per_column, 1), 0
        )
        fresh = fresh - fresh[0] if len(fresh) else fresh
        if np.abs(fresh - block).max(initial=0.0) < 1e-9:
            break
        block = fresh
    # the mean of a moment's weather belongs to all
    return mean + block.mean() if len(block) else mean, block - (block.mean() if len(block) else 0.0)


def _common(own: Array, df: Array) -> float:
    """Return the common variance: the weighted mean of those below three times the median sd, and of the prior."""
    known = df > 0
    prior = PRIOR_DF * PRIOR_SD**2
    if not known.any():
        return PRIOR_SD**2
    weight, value = df[known], own[known]
    usual = value <= 9 * max(float(np.median(value)), LEAST_SD**2)
    return float((prior + (weight * value)[usual].sum()) / (PRIOR_DF + weight[usual].sum()))


_LENGTHS = (0.7, 1.5, 3.0)
"""How many steps of a setting apart two configurations are still alike."""
_ROUGHNESS = (0.01, 0.03, 0.08, 0.2)
"""The sd of what a configuration has for itself, in ln units."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surface:
    """The response of K configurations, in ln units."""

    mean: Array
    """(K,): what is expected."""
    sd: Array
    """(K,): how far the truth may lie from it, one standard deviation."""
    rough: float = 0.0
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
        return Surface(mean=known.mean, sd=np.where(known.count > 0, known.sd, np.inf))
    level = float(np.median(values))
    centred, noise = values - level, known.sd[seen] ** 2 / known.count[seen]
    spread = max(float(np.var(values)), 1e-6)
    apart = distance(places)
    near = apart[np.ix_(seen, seen)]
    best: tuple[float, Array, Array, float] | None = None
    for length, rough in product(_LENGTHS, _ROUGHNESS):
        kernel = spread * np.exp(-near / (2 * length**2)) + rough**2 * np.eye(len(seen))
        lower = np.linalg.cholesky(kernel + np.diag(noise))
        weights = np.linalg.solve(lower.T, np.linalg.solve(lower, centred))
        likely = -0.5 * centred @ weights - np.log(np.diag(lower)).sum()
        if best is None or likely > best[0]:
            across = spread * np.exp(-apart[:, seen] / (2 * length**2))
            across[seen] += rough**2 * np.eye(len(seen))
            best = float(likely), weights, across, rough
            inverse = lower
    assert best is not None
    _, weights, across, rough = best
    reduced = np.linalg.solve(inverse, across.T)
    variance = spread + rough**2 - (reduced**2).sum(axis=0)
    return Surface(mean=level + across @ weights, sd=np.sqrt(np.maximum(variance, 1e-8)), rough=rough)


_ALPHA = 0.05

_LEAST_LAUNCHES = 2
"""Each of two values that are compared stands on so many launches at least: one says nothing of the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MainEffect:
    """One setting's."""

    span: float
    """How far its best and its worst value lie apart, in ln units, over configurations that differ in it alone."""
    low: float
    """The least that may be, with 95 % confidence."""
    high: float
    """The most that may be; infinite where too little is known."""
    best: float
    """The step of its best value, NaN where none is known."""

    def matters(self, delta: float) -> bool | None:
        """Tell whether more than ``delta`` hangs on it; None where that is not known."""
        if self.high <= delta:
            return False
        return True if self.low > delta else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Apart:
    """Two values of a setting: the mean difference between configurations that differ in it alone."""

    low: float
    high: float
    """The two steps."""
    difference: float
    """In ln units, positive where ``high`` is better."""
    variance: float
    """Of the mean difference."""
    df: float
    """Degrees of freedom of ``variance``."""


def main_effects(grid: Grid) -> tuple[MainEffect, ...]:
    """Return the effect of every setting among the configurations that were launched and are possible.

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
    return tuple(_effect(grid, d, usable, known) for d in range(grid.places.shape[1]))


def _effect(grid: Grid, d: int, usable: Flags, known: Launched) -> MainEffect:
    steps = sorted({float(step) for step in grid.places[usable, d] if np.isfinite(step)})
    others = np.delete(grid.places, d, axis=1)
    found = [
        one
        for low, high in combinations(steps, 2)
        if (one := _apart(others, (low, _at(grid, d, usable, low)), (high, _at(grid, d, usable, high)), known))
    ]
    if not found or known.common_df <= PRIOR_DF:
        return MainEffect(span=0.0, low=0.0, high=float("inf"), best=float("nan"))
    is_whole = {*steps} <= {step for one in found for step in (one.low, one.high)}
    width = each(critical, len(steps), np.array([one.df for one in found]), _ALPHA)
    sizes = np.array([abs(one.difference) for one in found])
    half = width * np.sqrt([one.variance for one in found])
    widest = found[int(sizes.argmax())]
    return MainEffect(
        span=float(sizes.max()),
        low=max(float((sizes - half).max()), 0.0),
        high=float((sizes + half).max()) if is_whole else float("inf"),
        best=widest.high if widest.difference > 0 else widest.low,
    )


def _at(grid: Grid, d: int, usable: Flags, step: float) -> list[int]:
    return [int(i) for i in np.flatnonzero(usable & (grid.places[:, d] == step))]


def _apart(
    others: Array, low: tuple[float, Sequence[int]], high: tuple[float, Sequence[int]], known: Launched
) -> _Apart | None:
    """Return how far those configurations at two steps lie apart that differ in nothing else; None for too few."""
    pairs = [(i, j) for i in low[1] for j in high[1] if np.array_equal(others[i], others[j])]
    m = len(pairs)
    sides = [{*side} for side in zip(*pairs, strict=True)]
    if not m or min(int(known.count[[*side]].sum()) for side in sides) < _LEAST_LAUNCHES:
        return None
    own = known.sd**2 / np.maximum(known.count, 1) / m**2
    parts = [(float(own[i]), float(known.df[i])) for pair in pairs for i in pair]
    variance = sum(part for part, _ in parts)
    df = min(variance**2 / sum(part**2 / df for part, df in parts), known.common_df)
    differences = [float(known.mean[j] - known.mean[i]) for i, j in pairs]
    scatter = float(np.var(differences, ddof=1)) / m if m > 1 else 0.0
    if scatter > variance:
        variance, df = scatter, m - 1.0
    return _Apart(low=low[0], high=high[0], difference=float(np.mean(differences)), variance=variance, df=df)
