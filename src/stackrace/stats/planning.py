"""How many blocks a question will need: before any is run, and from what is known so far."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .limits import against_best, critical
from .selection import ALPHA, LIMITS_ALPHA, LOOKS, WINNER_FROM, Selection
from .values import Question
from .variances import MOST_PRIOR

_SD = 0.05
"""The standard deviation of one launch's ln(throughput) within its block on a usual machine; its pilot knows
better."""

LEAD = 0.07
"""By how much the best stack of a usual race is ahead of the next: 7 to 12 % in default races."""


def blocks_expected(stacks: int, sd: float = _SD, difference: float = 0.05, lead: float = LEAD) -> int | None:
    """Return the first look at which a race of equally noisy stacks is likely to name its winner, None if none is.

    That is the first n with D·√(2sd²/n) < ln(1 + ``difference``) + ln(1 + ``lead``), D as in `limits.against_best`
    on the degrees of freedom that ``stacks`` ≥ 2 have by then: where stacks are ``lead`` apart from one another,
    about half of such races are over by then, and fewer where many follow the best as closely. ``sd`` ≥ 0, in ln
    units. Raises ValueError outside of these ranges.

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6.
    """
    if stacks < 2 or not 0 <= sd < math.inf or not difference >= 0 or not lead >= 0:
        raise ValueError(f"no plan for {stacks} stacks, sd {sd}, a difference of {difference} and a lead of {lead}")
    reach = math.log1p(difference) + math.log1p(lead)
    return next((n for n in LOOKS if n >= WINNER_FROM and _expected(stacks, sd, n) < reach), None)


def _expected(stacks: int, sd: float, blocks: int) -> float:
    own = (blocks - 1) * (stacks - 1) / stacks
    nu = min(2 * (own + min(stacks - 1, MOST_PRIOR)), stacks * own)
    return against_best(stacks, nu, ALPHA) * math.sqrt(2 * sd**2 / blocks)


def blocks_to_answer(state: Selection, delta: float, question: Question) -> int | None:
    """Return the next look that is likely to answer ``question``, None where 40 blocks are too few or nothing is
    known.

    Estimates and variances are taken to stay as they are, while n and the degrees of freedom grow: a winner needs
    d_lj − H_lj > −δ for the leader l and all j still in, a ranking every pair apart or within δ. About half of such
    races have their answer by then. One race at a time: arrays (K, K).

    Source: as `blocks_expected`.
    """
    k = state.left.shape[-1]
    if state.blocks < LOOKS[0] or k < 2:
        return None
    variance, nu = state.variances.of_pairs()
    i, j = np.triu_indices(k, 1)
    if question is Question.WINNER:
        rivals = [rival for rival in np.flatnonzero(state.left) if rival != state.leader]
        i, j = np.full(len(rivals), int(state.leader)), np.array(rivals, dtype=np.int64)
    ahead, blocks = state.pairs.estimate[i, j], state.pairs.blocks[i, j]
    if not np.isfinite(ahead).all() or (blocks < LOOKS[0]).any() or not (nu[i, j] > 0).all():
        return None

    def half(n: int, quantile: Callable[[int, float, float], float], alpha: float) -> np.ndarray:
        more = nu[i, j] * (n - 1) / (state.blocks - 1)
        width = np.array([quantile(k, float(df), alpha) for df in np.round(more, 1) + 0.1])
        return np.asarray(width * np.sqrt(variance[i, j] / n))

    for n in (n for n in LOOKS if n > state.blocks and n >= WINNER_FROM):
        if question is Question.WINNER and (np.maximum(ahead, 0.0) - half(n, against_best, ALPHA) > -delta).all():
            return n
        if question is Question.RANKING:
            width = half(n, critical, LIMITS_ALPHA)
            if ((np.abs(ahead) > width) | (width <= delta)).all():
                return n
    return None
