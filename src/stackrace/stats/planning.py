"""How many blocks a question will need, before they are run."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from ..model.race import Question
from .limits import critical
from .looks import ALPHA, LOOKS
from .pairs import trimmed_from
from .shrink import degrees

__all__ = ["blocks_needed", "expected_half_width"]

YUEN = {5: 1.15, 7: 1.10, 10: 1.15, 14: 1.10, 20: 1.15, 28: 1.13, 40: 1.15}
"""Yuen's variance of a block's difference by the number of blocks, over that of normal differences."""


def blocks_needed(stacks: int, sd: float, difference: float, question: Question) -> int | None:
    """Return the first planned look at which limits should be narrow enough to answer, None if the last is not.

    Where no half-width is above δ = ln(1 + ``difference``), every pair is either ordered or tied, and the leader
    is the best or less than δ from it: the question is answered however close the stacks are. Stacks that are
    further apart answer sooner. For a winner the limits against one stack must be so narrow, for a ranking those of
    all pairs.

    ``stacks`` ≥ 2; ``sd`` ≥ 0 is the standard deviation of one launch's value within its block, in ln units (of
    a `Pilot`: √(between + within/slices)); ``difference`` > 0. Raises ValueError otherwise. About half of such
    races will be done at that look.

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6; see `expected_half_width`.
    """
    if stacks < 2 or not 0 <= sd < math.inf or not difference > 0:
        raise ValueError(f"no plan for {stacks} stacks, sd {sd} and a difference of {difference}")
    delta = math.log1p(difference)
    return next((n for n in LOOKS if expected_half_width(stacks, sd, n, question) <= delta), None)


def expected_half_width(stacks: int, sd: float, blocks: int, question: Question) -> float:
    """Return how wide the widest limits that matter will be after ``blocks`` launches of each stack, in the median.

    H = c·√(2·sd²·y·q/n): c as in `critical`, y the price of trimming (``YUEN``), and q the median of the largest
    of m variances with ν degrees of freedom, the 0.5^(1/m) quantile of χ²_ν/ν, m = K − 1 for a winner and
    K(K − 1)/2 for a ranking; the pairs count as independent. ``blocks`` is one of the planned looks.

    Source: Wilson & Hilferty 1931, The distribution of chi-square, PNAS 17, for the quantile.
    """
    df = trimmed_from(blocks) - 1
    nu = float(degrees(np.array([df]), prior=stacks - 1, pooled=(stacks - 1) * df)[0])
    many = stacks - 1 if question is Question.WINNER else stacks * (stacks - 1) // 2
    z = NormalDist().inv_cdf(0.5 ** (1 / many))
    largest = max(1 - 2 / (9 * nu) + z * math.sqrt(2 / (9 * nu)), 0.0) ** 3
    return critical(stacks, nu, ALPHA) * math.sqrt(2 * sd**2 * YUEN[blocks] * largest / blocks)
