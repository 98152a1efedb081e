"""Few launches make a poor variance: each pair leans on what all pairs together say."""

from __future__ import annotations

import numpy as np

from .pairs import Array, Counts, Pairs

__all__ = ["degrees", "shrunken"]


def shrunken(pairs: Pairs) -> tuple[Array, Array]:
    """Return the shrunken variances ṽ and the degrees of freedom ν they are worth, both K×K.

    ṽ = (d0·v̄ + df·v)/(d0 + df) with d0 = K − 1 and v̄ the df-weighted mean of v over the pairs that have
    one. Both are NaN where a pair has fewer than two common blocks, and on the diagonal. ν: see `degrees`.

    Source: Smyth 2004, Linear models and empirical Bayes methods for assessing differential expression,
    Statistical Applications in Genetics and Molecular Biology 3(1).
    """
    k = pairs.df.shape[-1]
    known = pairs.df > 0
    total = pairs.df.sum(axis=(-2, -1), keepdims=True).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = (pairs.df * np.where(known, pairs.variance, 0.0)).sum(axis=(-2, -1), keepdims=True) / total
        variance = ((k - 1) * pooled + pairs.df * pairs.variance) / (k - 1 + pairs.df)
        nu = degrees(pairs.df, prior=k - 1, pooled=total / k)
    return np.where(known, variance, np.nan), np.where(known, nu, np.nan)


def degrees(df: Counts, *, prior: float, pooled: float | Array) -> Array:
    """Return ν, the degrees of freedom of a shrunken variance: df + d0, but never more than its data hold.

    v̄ is itself an estimate, worth ``pooled`` degrees of freedom D, and it contains v. With var(v) = 2/df,
    var(v̄) = cov(v, v̄) = 2/D (relative to σ⁴; the pairs are exchangeable) Satterthwaite's approximation
    gives (d0 + df)²/(df + (d0² + 2·d0·df)/D). For two stacks, where v̄ = v, that is df, as it must be; for
    many stacks and five launches or more it exceeds df + d0, which then holds.

    Any shape of ``df`` ≥ 0; ``prior`` d0 ≥ 0; ``pooled`` D > 0; the result has the same shape, 0 where df =
    0.

    Source: Satterthwaite 1946, An approximate distribution of estimates of variance components, Biometrics
    Bulletin 2.
    """
    own = np.maximum(df, 1).astype(float)
    held = (prior + own) ** 2 / (own + (prior**2 + 2 * prior * own) / pooled)
    return np.where(df > 0, np.minimum(own + prior, held), 0.0)
