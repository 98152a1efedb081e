"""The pairs' variances as the all-pairs rule shrinks them, and the degrees of freedom they are worth."""

from __future__ import annotations

import numpy as np

from ..pairs import Array, Counts, Pairs
from ..shrink import priors, spreads

__all__ = ["degrees", "shrunken"]


def shrunken(pairs: Pairs) -> tuple[Array, Array]:
    """Return the shrunken variances ṽ and the degrees of freedom ν they are worth, both K×K.

    A block's difference has the variance s_i² + s_j². Each stack's own s_i² (see `spreads`) is shrunk towards the
    common s̄², the df-weighted mean: t_i = (d0_i·s̄² + f_i·s_i²)/(d0_i + f_i), f_i the most degrees of freedom
    among its pairs, and ṽ_ij = t_i + t_j. d0_i is K − 1, but less for a stack that is far noisier than the rest
    (see `priors`), so that it cannot borrow their quiet; a quiet one borrows noise, which errs on the safe side.
    Where all have the same d0 and every pair is known, that is (d0·v̄ + df·v)/(d0 + df) with v fitted to two
    variances.

    ν is what `degrees` gives for two things. The pair's own worth: each s_i² rests on K − 1 pairs, and simulated is
    worth df(K − 2)/(K − 1); by Welch–Satterthwaite the two of a pair have that times (t_i + t_j)²/(t_i² + t_j²), df
    at least. And the pair's d0: Welch's (t_i + t_j)²/(t_i²/(d0_i + f_i) + t_j²/(d0_j + f_j)) less df, but between
    the two stacks' d0.

    Both are NaN where a pair has fewer than two common blocks, and on the diagonal. Of many
    races at once, (…, K, K).

    Source: Smyth 2004, Linear models and empirical Bayes methods for assessing differential expression,
    Statistical Applications in Genetics and Molecular Biology 3(1); Welch 1938, Biometrika 29; Games & Howell 1976,
    Pairwise multiple comparison procedures with unequal N's and/or variances, Journal of Educational Statistics 1,
    for pairs that differ in variance under one range distribution.
    """
    k = pairs.df.shape[-1]
    known = pairs.df > 0
    own, df = spreads(pairs), pairs.df.max(axis=-1)
    total = pairs.df.sum(axis=(-2, -1), keepdims=True).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        common = (df * own).sum(axis=-1, keepdims=True) / df.sum(axis=-1, keepdims=True)
        d0 = priors(own / common, df, k - 1)
        held = d0 + df
        leaning = (d0 * common + df * own) / held
        one, other = leaning[..., :, None], leaning[..., None, :]
        part = np.where(one + other > 0, one / (one + other), 0.5)  # nothing varies: both alike
        welch = 1 / (part**2 / held[..., :, None] + (1 - part) ** 2 / held[..., None, :])
        least, most = (either(d0[..., :, None], d0[..., None, :]) for either in (np.minimum, np.maximum))
        even = 1 / (part**2 + (1 - part) ** 2)
        worth = pairs.df * np.maximum(even * (k - 2) / max(k - 1, 1), 1.0)
        nu = degrees(worth, prior=np.clip(welch - pairs.df, least, most), pooled=total / k)
    return np.where(known, one + other, np.nan), np.where(known, nu, np.nan)


def degrees(df: Counts | Array, *, prior: float | Array, pooled: float | Array) -> Array:
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
    own = np.maximum(df, 1.0)
    held = (prior + own) ** 2 / (own + (prior**2 + 2 * prior * own) / pooled)
    return np.where(df > 0, np.minimum(own + prior, held), 0.0)
