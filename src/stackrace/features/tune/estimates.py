"""Estimates from launches: for each configuration, for similar ones, and for each setting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from ...stats.limits import critical, each
from ...stats.pairs import Array, Counts, Flags
from .model import Knob
from .speed_effect import distance, log_likelihood


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """K configurations in B blocks, on a grid of D settings."""

    values: Array
    """(K, B): the response in ln units by block, without the machine's changes of speed; NaN if a configuration was
    not launched, or gave nothing."""
    entered: Flags
    """(K, B): True if the configuration was launched in the block."""
    places: Array
    """(K, D): the position on the grid, in steps of each setting; NaN for a configuration off the grid."""
    delta: float
    """The difference that does not matter, in ln units."""
    references: tuple[int, ...] = ()
    """Indices of the references, which race again beside the finalists."""
    out: tuple[int, ...] = ()
    """Indices of configurations that are beyond a limit, or failed."""
    strangers: tuple[int, ...] = ()
    """Indices of references that are not among the configurations: compared, but never chosen."""
    reserve: tuple[int, ...] = ()
    """Indices of configurations beyond the usual values: they race only if the best lies at that end."""

    @property
    def waiting(self) -> tuple[int, ...]:
        """Configurations of the reserve that were never launched."""
        return tuple(i for i in self.reserve if not self.entered[i].any())

    @property
    def field(self) -> int:
        """Number of configurations to choose from."""
        return len(self.values) - len(self.strangers) - len(self.waiting)


_PRIOR_SD, _PRIOR_DF = 0.03, 2.0
"""Assumed SD of launches before any configuration was launched twice, and the degrees of freedom that this
assumption counts for later."""

_LEAST_SD = 0.005
"""Smallest SD of launches that is assumed: a few launches may agree by chance."""

_OWN_DF = 3.0
"""Degrees of freedom that the common variance counts for when a configuration's variance is shrunk towards it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Launched:
    """Estimates for K configurations, in ln units."""

    mean: Array
    """(K,): the response without the effects of the blocks; NaN if nothing was measured."""
    count: Counts
    """(K,): launches with a value."""
    sd: Array
    """(K,): SD of each configuration's launches, its variance shrunk towards the common one."""
    df: Array
    """(K,): degrees of freedom of ``sd``."""
    common_df: float
    """Degrees of freedom of the common variance: several ``sd`` together have no more."""


def launched(values: Array) -> Launched:
    """Return estimates from ``values``, (K, B) with NaN where a configuration was not launched.

    y_ib = m_i + b_b + e_ib by least squares, the b of the blocks adding to 0. A launch's variance s_i² comes from
    the residuals of configurations with two or more launches. It is shrunk towards the common one, s̃_i² = (d0·s̄²
    + f_i·s_i²)/(d0 + f_i) with f_i = n_i − 1, so that a scattering configuration shows and a lucky one does not.

    Source: Smyth 2004, Linear models and empirical Bayes methods, Statistical Applications in Genetics and
    Molecular Biology 3(1).
    """
    there = np.isfinite(values)
    count = there.sum(axis=1)
    mean, block = _fitted(values, there)
    residual = np.where(there, values - mean[:, None] - block[None, :], 0.0)
    # a single launch says nothing about its variance
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
    """Return the means of configurations and the effects of blocks: least squares of a two-way layout."""
    filled, block = np.where(there, values, 0.0), np.zeros(values.shape[1])
    per_row, per_column = np.maximum(there.sum(axis=1), 1), np.maximum(there.sum(axis=0), 1)
    for _ in range(60):
        mean = (filled - there * block).sum(axis=1) / per_row
        fresh = (filled - there * mean[:, None]).sum(axis=0) / per_column
        fresh = fresh - fresh[:1]
        if np.abs(fresh - block).max(initial=0.0) < 1e-9:
            break
        block = fresh
    # the mean effect of the blocks is added to every configuration
    level = block.sum() / max(len(block), 1)
    return mean + level, block - level


def _common(squares: Array, df: Array) -> float:
    """Return the common variance: the weighted mean of the prior and of the variances up to 3² times the median."""
    known = df > 0
    if not known.any():
        return _PRIOR_SD**2
    own = squares[known] / df[known]
    usual = own <= 9 * max(float(np.median(own)), _LEAST_SD**2)
    whole, held = squares[known][usual].sum(), df[known][usual].sum()
    return float((_PRIOR_DF * _PRIOR_SD**2 + whole) / (_PRIOR_DF + held))


_LENGTHS = (0.7, 1.5, 3.0)
"""Correlation lengths to try, in steps of a setting."""
_ROUGHNESS = (0.01, 0.03, 0.08, 0.2)
"""SDs to try for a configuration's own part, in ln units."""


class Surface(NamedTuple):
    """The response of K configurations, in ln units."""

    mean: Array
    """(K,): the expected response."""
    sd: Array
    """(K,): the standard deviation of the true response around ``mean``."""
    rough: float
    """SD of differences between similar configurations that no setting explains. A single launch of each cannot
    distinguish these differences from chance."""


def surface(known: Launched, places: Array) -> Surface:
    """Return the response of each configuration, estimated from its launches and those of similar configurations.

    ``places``, (K, D), holds steps on the grid; a configuration off the grid has NaN, and no other is similar. The
    response is a Gaussian process over the steps, a squared exponential plus each configuration's own part; lengths
    and roughness are the most likely ones for the launches.

    Source: Rasmussen & Williams 2006, Gaussian Processes for Machine Learning, algorithm 2.1 and section 5.4.
    """
    seen = np.flatnonzero(known.count > 0)
    values = known.mean[seen]
    if len(seen) < 2:
        return Surface(known.mean, np.where(known.count > 0, known.sd, np.inf), 0.0)
    level, spread = float(np.median(values)), max(float(np.var(values)), 1e-6)
    chance = np.diag(known.sd[seen] ** 2 / known.count[seen])
    distances = distance(places)[:, seen]

    def covariance(length: float, rough: float) -> Array:
        """Return the covariance of all configurations with the launched ones, (K, N)."""
        across = spread * np.exp(-distances / (2 * length**2))
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
"""Launches that each of two compared values needs: a single one says nothing about the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Effect of one setting."""

    server: str
    name: str
    matters: bool
    """False if all its values are within the difference that does not matter, with 95 % confidence."""
    known: bool
    """True if ``matters`` is proved: if not, the setting may or may not matter."""
    span: float
    """Difference between ``best`` and ``worst``, on average over the others: 0.2 for 20 %."""
    span_high: float | None = None
    """Upper limit of that difference."""
    best: str = ""
    """The better of the two compared values that differ the most, on average."""
    worst: str = ""
    """The other one."""


def main_effects(grid: Grid, knobs: Sequence[Knob], shown: Array | None = None) -> tuple[Effect, ...]:
    """Return the effect of every knob among the launched and possible configurations.

    ``shown``, (K,) in ln units, are the responses in a report's table, by default the means of all launches. They
    give the size of an effect; if they contradict its direction, the effect is not known.

    The effect of two values of a setting is the mean difference between configurations that differ in nothing else;
    all pairs have the same weight. Its variance is that of the launches, Σ(s_i²/n_i + s_j²/n_j)/m² with Welch's
    degrees of freedom, no more than those of the common variance; or the scatter of the m pairs' own differences,
    with m − 1, whichever is larger. The half-width of each difference is that of the Tukey family of the setting's
    values. So a setting that helps some configurations and hurts others has wide limits, and does not count as
    unimportant.

    Nothing is known until some configuration was launched twice: before that, the variance of launches is a guess.
    Two values are compared only if each has ``_LEAST_LAUNCHES``. A setting with a value that cannot be compared may
    matter, and does not count as unimportant.

    Source: Tukey 1953, The problem of multiple comparisons; Box, Hunter & Hunter 2005, Statistics for
    Experimenters, chapter 5, for main effects; Welch 1938, Biometrika 29.
    """
    known = launched(grid.values)
    usable = known.count > 0
    usable[[*grid.out, *grid.strangers]] = False
    shown = known.mean if shown is None else shown
    return tuple(_effect(grid, d, knob, usable, known, shown) for d, knob in enumerate(knobs))


def _effect(grid: Grid, d: int, knob: Knob, usable: Flags, known: Launched, shown: Array) -> Effect:
    steps = sorted({float(step) for step in grid.places[usable, d] if np.isfinite(step)})
    at = {step: np.flatnonzero(usable & (grid.places[:, d] == step)) for step in steps}
    others = np.delete(grid.places, d, axis=1)
    found, sizes_shown = {}, []
    for low, high in combinations(steps, 2):
        pairs = np.array([(i, j) for i in at[low] for j in at[high] if np.array_equal(others[i], others[j])])
        sides = [known.count[np.unique(side)].sum() for side in pairs.T]
        if sides and min(sides) >= _LEAST_LAUNCHES:
            found[low, high] = _difference(pairs, known)
            sizes_shown.append(float((shown[pairs[:, 1]] - shown[pairs[:, 0]]).mean()))
    if not found or known.common_df <= _PRIOR_DF:
        return Effect(server=knob.server, name=knob.name, matters=True, known=False, span=0.0)
    difference, variance, df = np.array([*found.values()]).T
    half = each(critical, len(steps), df, _ALPHA) * np.sqrt(variance)
    sizes = np.abs(difference)
    is_whole = {*steps} <= {step for both in found for step in both}
    most = float((sizes + half).max()) if is_whole else math.inf
    widest = int(sizes.argmax())
    is_falling = bool(difference[widest] < 0)
    worst, best = sorted([*found][widest], reverse=is_falling)
    span = -sizes_shown[widest] if is_falling else sizes_shown[widest]
    written = dict(zip(knob.steps, knob.ladder, strict=True))
    return Effect(
        server=knob.server,
        name=knob.name,
        matters=most > grid.delta,
        known=most <= grid.delta or (float((sizes - half).max()) > grid.delta and span > 0),
        span=math.expm1(span),
        span_high=math.expm1(most) if is_whole else None,
        best=written.get(best, ""),
        worst=written.get(worst, ""),
    )


def _difference(pairs: Counts, known: Launched) -> tuple[float, float, float]:
    """Return the mean difference (second minus first) of ``pairs``, (m, 2), its variance and degrees of freedom."""
    m = len(pairs)
    own = known.sd[pairs] ** 2 / known.count[pairs] / m**2
    variance = float(own.sum())
    df = min(variance**2 / float((own**2 / known.df[pairs]).sum()), known.common_df)
    differences = known.mean[pairs[:, 1]] - known.mean[pairs[:, 0]]
    scatter = float(np.var(differences, ddof=1)) / m if m > 1 else 0.0
    if scatter > variance:
        variance, df = scatter, m - 1.0
    return float(differences.mean()), variance, df
