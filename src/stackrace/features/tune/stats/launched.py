"""What the launches say of each configuration, and what is likely of it, its neighbours on the grid considered."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ....stats.pairs import Array, Counts

__all__ = ["LEAST_SD", "PRIOR_DF", "PRIOR_SD", "Launched", "Surface", "distance", "launched", "surface"]


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


def distance(places: Array) -> Array:
    """Return the squared distances in steps, infinite where one of the two is off the grid."""
    apart = ((places[:, None, :] - places[None, :, :]) ** 2).sum(axis=-1)
    apart = np.where(np.isfinite(apart), apart, np.inf)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)
