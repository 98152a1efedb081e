"""Noise of each stack: its own variance, pulled towards the variance of all stacks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .pairs import Array, Counts, Flags, Pairs

_LEAST = 0.05
"""Least variance of a stack, as a share of the mean variance of its pairs."""

_FAR = 1.25
"""Normal score of a stack's variance at which the common variance counts for half of its maximum."""

_STEEP = 3.0


def spreads(pairs: Pairs) -> Array:
    """Return each stack's own share s_i² of its pairs' variances, by least squares of v_ij = s_i² + s_j²; (…, K).

    The pairs are weighted by their degrees of freedom. If the data do not decide (two stacks alone), both have
    half. Stacks that share noise beyond the block may get zero or less; they count with ``_LEAST`` of their pairs'
    mean variance. 0 for a stack without pairs.

    Source: Grubbs 1948, On estimating precision of measuring instruments and product variability, JASA 43.
    """
    weights = pairs.df.astype(float)
    sums = weights.sum(axis=-1)
    aims = (weights * np.where(pairs.df > 0, pairs.variance, 0.0)).sum(axis=-1)
    normal = weights + np.eye(weights.shape[-1]) * sums[..., None]
    solved = (np.linalg.pinv(normal, hermitian=True) @ aims[..., None])[..., 0]
    return np.asarray(np.maximum(solved, _LEAST * aims / np.maximum(sums, 1.0)))


def _alike(times: Array, df: Counts | Array) -> Array:
    """Return how far each stack counts as no noisier than the rest: from 1 to 0 for one that must be noisier.

    1/(1 + exp(3(z − 1.25))), where z = (r^(1/3) − 1 + 2/(9f))/√(2/(9f)) is the normal score of r = s_i²/s̄² as a
    χ²_f/f. ``times`` (…, K) is r ≥ 0, and NaN counts as no noisier than the rest; ``df`` f > 0 alike.

    Source: Phipson, Lee, Majewski, Alexander & Smyth 2016, Robust hyperparameter estimation protects against
    hypervariable genes and improves power to detect differential expression, Annals of Applied Statistics 10;
    Wilson & Hilferty 1931, The distribution of chi-square, PNAS 17.
    """
    part = 2 / (9 * df)
    score = (np.cbrt(np.where(np.isfinite(times), times, 1.0)) - 1 + part) / np.sqrt(part)
    return np.asarray(1 / (1 + np.exp(np.minimum(_STEEP * (score - _FAR), 300.0))))


MOST_PRIOR = 4
"""Most degrees of freedom for which the common variance counts, beside a stack's own. With K − 1, as for alike
stacks, one stack of 5 × the others' sd causes a wrong winner in too many races."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variances:
    """Variances of K stacks, their own and the pooled ones (see the properties).

    ``leaning`` is t_i = (d0_i·s̄² + f_i·s_i²)/(d0_i + f_i) on ``held`` = d0_i + f_i degrees of freedom. d0_i is at
    most ``MOST_PRIOR`` and one less than the stacks with pairs, and falls to 0 the surer it is that stack i is
    noisier than s̄² (`_alike`). With as much for all, one stack of 25 times the others' variance caused a false
    order in 8 to 20 % of races of 8 to 20 stacks. A d0 estimated from the spread of the variances, the same for
    all stacks (Smyth's own way), prevents this, too, but then five launches find half of the differences of 30 %
    that they found before.

    Source: Smyth 2004, Linear models and empirical Bayes methods, Statistical Applications in Genetics and
    Molecular Biology 3(1); Phipson et al. 2016, Annals of Applied Statistics 10, for the prior that a noisy stack
    loses.
    """

    own: Array
    """(…, K): s_i² of a launch within its block, in ln units squared."""
    df: Array
    """(…, K): degrees of freedom f_i of s_i²."""
    left: Flags = field(default_factory=lambda: np.asarray(False))
    """(…, K): stacks that left the race."""
    least_df: float = 1.0
    """Least degrees of freedom in the test of whether a stack is noisier than the others."""

    @property
    def common(self) -> Array:
        """s̄² = Σw_j·f_j·s_j²/Σw_j·f_j that each stack leans on, (…, K).

        w is 1, but for a stack still in, another that left and is noisier than those still in does not count: most
        stacks that left are far slower, and many of these answer so few requests that they vary most.
        """
        staying = _mean(self.own, np.where(self.left, 0.0, self.df))
        counts = np.where(self.left, self._alike_to(staying), 1.0)
        return np.where(self.left, _mean(self.own, self.df), _mean(self.own, self.df * counts))

    @property
    def held(self) -> Array:
        return self._prior + self.df

    @property
    def leaning(self) -> Array:
        held = self.held
        whole = self._prior * self.common + self.df * self.own
        return np.asarray(whole / np.where(held > 0, held, 1.0))

    @property
    def _prior(self) -> Array:
        known = (self.df > 0).sum(axis=-1, keepdims=True)
        return np.asarray(np.clip(known - 1, 0, MOST_PRIOR) * self._alike_to(self.common))

    def _alike_to(self, variance: Array) -> Array:
        ratio = np.where(variance > 0, self.own / np.where(variance > 0, variance, 1.0), 1.0)
        return _alike(ratio, np.maximum(self.df, self.least_df))

    def of_pairs(self) -> tuple[Array, Array]:
        """Return S² = t_i + t_j, the variance of a block's difference, and its ν, (…, K, K) each.

        ν = (t_i + t_j)²/(t_i²/(d0_i + f_i) + t_j²/(d0_j + f_j)), at most Σf, the degrees of freedom of the data. 0
        if nothing is known.

        Source: Welch 1938, Biometrika 29; Satterthwaite 1946, Biometrics Bulletin 2.
        """
        one, other = self.leaning[..., :, None], self.leaning[..., None, :]
        held = np.maximum(self.held, 1e-9)
        both = one + other
        part = np.where(both > 0, one / np.where(both > 0, both, 1.0), 0.5)  # nothing varies: both alike
        nu = 1 / (part**2 / held[..., :, None] + (1 - part) ** 2 / held[..., None, :])
        return both, np.minimum(nu, self.df.sum(axis=-1)[..., None, None])

    def replaced(self, newer: Variances, where: Flags) -> Variances:
        """Return ``newer`` for the stacks of the mask ``where``, (…, K), and ``self`` for all others."""
        any_newer = where.any(axis=-1, keepdims=True)
        return replace(
            self, own=np.where(where, newer.own, self.own), df=np.where(where, newer.df, self.df),
            left=np.where(any_newer, ~where, self.left),
        )  # fmt: skip


def _mean(values: Array, weights: Array) -> Array:
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray((weights * values).sum(axis=-1, keepdims=True) / np.where(total > 0, total, 1.0))


def unknown(shape: tuple[int, ...]) -> Variances:
    """Return the variances of stacks before anything is known."""
    return Variances(own=np.zeros(shape), df=np.zeros(shape))


def measured(all_pairs: Pairs) -> Variances:
    """Return the variance of each stack that has pairs: s_i² by `spreads`, on f_i = d̄f·(K − 1)/K.

    K counts the stacks with pairs, d̄f is the mean df of the stack's own pairs with them. Two stacks share the
    degrees of freedom of their only pair: df/2 each.

    Source: Grubbs 1948, On estimating precision of measuring instruments, JASA 43.
    """
    df = all_pairs.df.sum(axis=-1)
    many = (df > 0).sum(axis=-1, keepdims=True)
    mean = df / np.maximum(many - 1, 1)
    return Variances(own=spreads(all_pairs), df=mean * (many - 1) / np.maximum(many, 1))
