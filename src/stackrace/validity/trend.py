"""Whether the thirds of a series differ by more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

__all__ = ["LEAST", "Thirds", "thirds"]

LEAST = 6
"""Two values in each third are the fewest that tell anything of their scatter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thirds:
    """The two thirds of a series that differ most: by which share of the mean, and how probable by chance.

    ``change`` is signed: negative where the later third is the lower. ``p`` counts all three comparisons.
    """

    change: float
    p: float


def thirds(values: Sequence[float]) -> Thirds | None:
    """Compare the means of the first, middle and last third of ``values`` (in order of time, means of blocks).

    t = (m_i − m_j) / (s·√(1/n_i + 1/n_j)), s² the variance within thirds with n − 3 degrees of freedom; the p-value
    of the largest |t| is taken three times (Bonferroni). None with less than six values or a mean of zero. Values
    that never vary within their thirds give p = 0 where the thirds differ at all. Neighbouring values must be
    nearly independent: hand in means over blocks longer than the correlation, not single bins.

    Source: R. A. Fisher, "Statistical Methods for Research Workers", 1925; O. J. Dunn, JASA 56 (1961).
    """
    mean = fmean(values) if len(values) >= LEAST else 0.0
    if not mean:
        return None
    cut = round(len(values) / 3)
    parts = [values[:cut], values[cut : len(values) - cut], values[len(values) - cut :]]
    means = [fmean(part) for part in parts]
    freedom = len(values) - 3
    squares = sum((value - own) ** 2 for part, own in zip(parts, means, strict=True) for value in part)
    scatter = math.sqrt(squares / freedom)
    worst = Thirds(change=0.0, p=1.0)
    for first, second in combinations(range(3), 2):
        change = means[second] - means[first]
        error = scatter * math.sqrt(1 / len(parts[first]) + 1 / len(parts[second]))
        p = min(1.0, 3 * _two_sided(change / error, freedom)) if error else float(change == 0)
        if p < worst.p:
            worst = Thirds(change=change / mean, p=p)
    return worst


def _two_sided(t: float, freedom: int) -> float:
    """Return P(|T| ≥ |t|) of Student's distribution with two or more whole degrees of freedom.

    Source: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
    """
    theta = math.atan(abs(t) / math.sqrt(freedom))
    sine, cosine = math.sin(theta), math.cos(theta)
    term = total = cosine if freedom % 2 else 1.0
    for number in range(3 if freedom % 2 else 2, freedom, 2):
        term *= cosine * cosine * (number - 1) / number
        total += term
    inside = 2 / math.pi * (theta + sine * total) if freedom % 2 else sine * total
    return max(0.0, 1.0 - inside)
