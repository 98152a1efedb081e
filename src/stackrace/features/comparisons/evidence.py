"""What chosen pairs of cells differ by: their differences, and a variance that all cells of a race lend each
other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...stats.pairs import ROBUST_FROM, Array, Counts, pairs
from ...stats.variances import spreads

LEAST_BLOCKS = 2
"""With fewer no difference has a variance."""

_MOST_PRIOR = 4.0
"""The common variance counts for so many degrees of freedom at most: cells differ in what they vary by."""

_FAR, _STEEP = 1.25, 3.0
"""A cell so many standard deviations noisier than all is as likely of their kind as not, and how steeply that
falls."""

_Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """Cells that may lend each other their variance: one metric of one race."""

    values: Array
    """(…, cells, blocks): ln of the metric, NaN where a block has none."""
    group: Sequence[int]
    """The number of each cell's group; cells of a group were measured close together, and their differences are
    looked at."""
    contrasts: Sequence[tuple[int, int]]
    """Pairs of cells of one group each."""
    least: int = LEAST_BLOCKS
    """With fewer blocks nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What a panel's contrasts rest on, each (…, contrasts)."""

    mean: Array
    """θ's estimate, in ln units."""
    variance: Array
    """That of one block's difference."""
    nu: Array
    """Degrees of freedom of the variance, 0 where there is none."""
    blocks: Counts
    """The number of common blocks."""

    @property
    def error(self) -> Array:
        """The standard error of ``mean``; infinite where no variance is known."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.nu > 0, np.sqrt(self.variance / self.blocks), np.inf)


def evidence(panel: Panel, blocks: int | None = None) -> Evidence:
    """Return what the first ``blocks`` blocks (None: all) say of the panel's contrasts.

    A contrast's differences, block by block, have the plain mean and variance below ten blocks, the 20 % trimmed
    mean and Yuen's variance from ten on (`pairs.trimmed`). The variance is then taken from all cells: within a
    group each cell's own share s_i² is found by least squares of v_ij = s_i² + s_j² over all pairs
    (`variances.spreads`), worth f_i = df·(K − 1)/K for K cells. It is shrunk towards s̄² = Σf_i·s_i²/Σf_i over all
    cells of the panel,

        t_i = (d0_i·s̄² + f_i·s_i²)/(d0_i + f_i),   d0_i = min(C − 1, 4)/(1 + exp(3(z_i − 1.25))),

    with z_i the normal score of s_i²/s̄² as a χ²_f/f: a cell far noisier than the C − 1 others borrows nothing of
    their quiet. The contrast has t_i + t_j, with Welch's ν = (t_i + t_j)²/(t_i²/(d0_i + f_i) + t_j²/(d0_j +
    f_j)), at most Σf.

    Source: Smyth 2004, Linear models and empirical Bayes methods for assessing differential expression, Statistical
    Applications in Genetics and Molecular Biology 3(1); Phipson, Lee, Majewski, Alexander & Smyth 2016, Robust
    hyperparameter estimation protects against hypervariable genes, Annals of Applied Statistics 10; Yuen 1974,
    Biometrika 61; Welch 1938, Biometrika 29.
    """
    values = np.asarray(panel.values, dtype=float)[..., :blocks]
    cells = values.shape[-2]
    shape = (*values.shape[:-2], cells, cells)
    mean, variance = np.full(shape, np.nan), np.full(shape, np.nan)
    count, df = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    own, worth = np.zeros(shape[:-1]), np.zeros(shape[:-1])
    for members in _groups(panel.group):
        if len(members) < 2:
            continue
        differences = pairs(values[..., members, :], ROBUST_FROM)
        rows, columns = np.ix_(members, members)
        mean[..., rows, columns], variance[..., rows, columns] = differences.estimate, differences.variance
        count[..., rows, columns], df[..., rows, columns] = differences.blocks, differences.df
        k = (differences.df > 0).sum(axis=-1) + 1
        own[..., members] = spreads(differences)
        worth[..., members] = differences.df.max(axis=-1) * (k - 1) / k
    leaning, held = _shrunken(own, worth)
    i, j = (np.array([pair[side] for pair in panel.contrasts], dtype=np.int64) for side in (0, 1))
    known = df[..., i, j] > 0
    one, other = leaning[..., i], leaning[..., j]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(one + other > 0, one / (one + other), 0.5)  # nothing varies: both alike
        nu = 1 / (part**2 / held[..., i] + (1 - part) ** 2 / held[..., j])
    total = worth.sum(axis=-1, keepdims=True)
    return Evidence(
        mean=mean[..., i, j],
        variance=np.where(known, one + other, np.nan),
        nu=np.where(known, np.minimum(nu, total), 0.0),
        blocks=count[..., i, j],
    )


def _shrunken(own: Array, worth: Array) -> tuple[Array, Array]:
    """Return each cell's t_i and d0_i + f_i; see `evidence`."""
    total = np.maximum(worth.sum(axis=-1, keepdims=True), 1e-300)
    common = (worth * own).sum(axis=-1, keepdims=True) / total
    with np.errstate(invalid="ignore", divide="ignore"):
        times = np.where(common > 0, own / common, 1.0)
    part = 2 / (9 * np.maximum(worth, 0.5))
    score = (np.cbrt(times) - 1 + part) / np.sqrt(part)
    most = np.minimum((worth > 0).sum(axis=-1, keepdims=True) - 1, _MOST_PRIOR)
    prior = np.maximum(most, 0.0) / (1 + np.exp(np.clip(_STEEP * (score - _FAR), -300.0, 300.0)))
    held = np.maximum(prior + worth, 1e-300)
    return (prior * common + worth * own) / held, held


def _groups(group: Sequence[int]) -> list[_Indices]:
    names = np.asarray(group)
    return [np.flatnonzero(names == name) for name in dict.fromkeys(group)]
