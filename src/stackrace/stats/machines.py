"""Tests for equal machines: in speed, and in the ratios of the stacks that they race.

A block is raced whole on one machine. An effect of the machine on all stacks alike is in all values of its
blocks, and cancels in their differences. An effect on single stacks (the interaction of machine and stack) stays
in them. While every machine has as many blocks, the mean over all blocks is the mean over these machines. Its
variance is taken from all blocks together and includes the differences between the machines: limits are too wide
rather than too narrow. If the ratios are known to differ, that mean is the ratio on no machine at all: such
blocks are not pooled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.numbers import Interval
from .contrasts import with_variances
from .limits import critical, ratio_of
from .pairs import ROBUST_FROM, Array, Family, Pairs, pairs
from .values import MachineVerdict
from .variances import measured

SHIFT_ALPHA = 0.01
"""Chance that equal machines are called unequal in the ratios of their stacks, at any one look."""

_SPEED_ALPHA = 0.05
"""Chance that the limits of a machine's speed miss."""

_NOTHING = 1e-9
"""Largest difference between computed values that is only rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Pair of stacks, by index, whose ratio most likely differs between two machines, with the factor."""

    first: int
    second: int
    shift: Interval


def same_speed(
    own: Sequence[float], other: Sequence[float], difference: float
) -> tuple[Interval | None, MachineVerdict]:
    """Return the ratio of two machines' speeds with its 95 % limits, and the verdict on their equality.

    ``own`` and ``other`` hold a value for each block of a machine, the mean ln(throughput) of the same stacks, NaN
    if there is none; a ``difference`` of 0.05, for 5 %, does not matter. The ratio is exp(m₁ − m₂ ± t·e),
    e² = v₁/n₁ + v₂/n₂ with Welch's degrees of freedom; without limits below two blocks each, None without any block
    on a machine. Equal: both limits within the difference. Unequal: the limits exclude 1.

    Source: Welch 1938, The significance of the difference between two means when the population variances are
    unequal, Biometrika 29; Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, for the first
    verdict.
    """
    a, b = (np.asarray(values, dtype=float) for values in (own, other))
    a, b = a[np.isfinite(a)], b[np.isfinite(b)]
    if not len(a) or not len(b):
        return None, MachineVerdict.UNKNOWN
    mean = float(a.mean() - b.mean())
    half = _welch(a, b) if min(len(a), len(b)) > 1 else math.inf
    return ratio_of(mean, half), _verdict(mean, half, math.log1p(difference))


def shifts(own: Array, other: Array, alpha: float = SHIFT_ALPHA) -> Family:
    """Return the change of every pair's difference from one machine to another, with limits.

    ``own`` and ``other`` have shape (K, B), or (…, K, B) for many races: ln of the response by stack and block of a
    machine, NaN if there is none. D_ij is the mean difference of i and j within the blocks of one machine minus the
    same within the blocks of the other (trimmed and with variances as in `pairs`), H_ij = c·√(S²·(1/n₁ + 1/n₂)): c
    is the quantile of all pairs at ``alpha`` (`limits.critical`), S² and ν come from the `variances` of the pairs'
    variances within each machine, pooled by their degrees of freedom. Limits are infinite if a pair has fewer than
    two common blocks on either machine.

    An F test of machine × stack does the same for stacks that are equally noisy. Here every stack has a noise of
    its own, as in the tiers, and the pair that differs is known.

    Source: Scheffé 1959, The Analysis of Variance, section 4.3 (interactions); Tukey 1953, The problem of multiple
    comparisons; Gail & Simon 1985, Testing for qualitative interactions, Biometrics 41, for the purpose of such a
    test.
    """
    one, two = (pairs(np.asarray(values, dtype=float), ROBUST_FROM) for values in (own, other))
    both = _within(one, two)
    found = with_variances(both, measured(both), both.df > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        # S²·(1/n₁ + 1/n₂) in place of S²/n
        variance = found.variance * both.blocks * (1 / one.blocks + 1 / two.blocks)
    return replace(found, variance=variance).family(critical, variance.shape[-1], alpha)


def same_ratios(
    own: Sequence[Sequence[float]], other: Sequence[Sequence[float]], difference: float, *, tests: int = 1
) -> tuple[Shift | None, MachineVerdict]:
    """Return the pair whose ratio most likely differs between two machines, and the verdict on all; see `shifts`.

    ``own`` and ``other`` hold a row of values for each of the same stacks; a ``difference`` of 0.05, for 5 %, does
    not matter. If ``tests`` machines are compared, each test has its share of ``SHIFT_ALPHA`` (Bonferroni). Equal:
    all limits within the difference. Unequal: some limits exclude 1. None if no pair was raced on both machines.
    """
    family = shifts(np.array(own, dtype=float), np.array(other, dtype=float), SHIFT_ALPHA / tests)
    k, delta = len(own), math.log1p(difference)
    known = [(i, j) for i in range(k) for j in range(i + 1, k) if math.isfinite(family.estimate[i, j])]
    if not known:
        return None, MachineVerdict.UNKNOWN
    found = [(float(family.estimate[pair]), float(family.half_width[pair])) for pair in known]
    verdicts = [_verdict(mean, half, delta) for mean, half in found]
    if all(one is MachineVerdict.EQUAL for one in verdicts):
        verdict = MachineVerdict.EQUAL
    else:
        unequal = MachineVerdict.UNEQUAL in verdicts
        verdict = MachineVerdict.UNEQUAL if unequal else MachineVerdict.UNKNOWN
    at = max(range(len(known)), key=lambda i: _likeliness(*found[i]))
    first, second = known[at]
    return Shift(first=first, second=second, shift=ratio_of(*found[at])), verdict


def _verdict(mean: float, half: float, delta: float) -> MachineVerdict:
    if abs(mean) + half <= delta:
        return MachineVerdict.EQUAL
    return MachineVerdict.UNEQUAL if abs(mean) > half + _NOTHING else MachineVerdict.UNKNOWN


def _likeliness(mean: float, half: float) -> tuple[float, float]:
    """Return the sort key of a pair by how likely it differs; pairs without limits come first."""
    return (0.0 if math.isinf(half) else abs(mean) / max(half, _NOTHING), abs(mean))


def _welch(a: Array, b: Array) -> float:
    """Return t·e of `same_speed`; each machine has at least two values."""
    parts = [float(values.var(ddof=1) / len(values)) for values in (a, b)]
    if not sum(parts):
        return 0.0
    nu = sum(parts) ** 2 / sum(part**2 / (len(v) - 1) for part, v in zip(parts, (a, b), strict=True))
    return critical(2, nu, _SPEED_ALPHA) * math.sqrt(sum(parts))


def _within(one: Pairs, two: Pairs) -> Pairs:
    """Return the pairs' differences between two machines, with their pooled variance within each."""
    both = (one.df > 0) & (two.df > 0)
    df = np.where(both, one.df + two.df, 0)
    squares = np.where(both, one.df * np.nan_to_num(one.variance) + two.df * np.nan_to_num(two.variance), 0.0)
    return replace(
        one,
        estimate=one.estimate - two.estimate,
        variance=np.where(both, squares / np.maximum(df, 1), np.nan),
        blocks=np.minimum(one.blocks, two.blocks),
        df=df,
    )
