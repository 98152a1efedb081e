"""Whether one of two is slower than allowed: looks at their differences while they are measured.

A response's differences come block by block, positive where the head is worse. Two statements may be made of their
expectation θ: it is above the allowance, after an alarm that fresh blocks confirm; or it is below the limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

import numpy as np

from .limits import critical
from .pairs import ROBUST_FROM, Array, trimmed, trimmed_from

__all__ = ["ALARM", "CONFIRM", "LOOKS", "MISS", "MISS_BEFORE", "Stage", "Watched", "blocks_needed", "watched"]

ALARM = 0.20
"""The probability of an alarm about any response, over all looks, where none is slower than allowed."""

CONFIRM = 0.05
"""The probability that fresh blocks alone confirm an alarm about a response that is not slower than allowed."""

MISS = 0.05
"""The probability that a response is called clear although it is slower by its limit or more."""

MISS_BEFORE = 0.8 * MISS
"""The part of it that blocks before an alarm may spend; those after one may spend the rest."""

LOOKS = (3, 4, 6, 8, 10, 13, 16, 20, 25, 31, 38, 47, 58, 71, 87, 106, 130, 160, 190)
"""The numbers of blocks, since the beginning or since the alarm, after which something may be decided."""

LOOK_SHARE = 0.09
"""Every look may spend this part of an error rate: they mostly see the same data, and spend all of it together."""

PASSING_SHARE = 0.07
"""The same for what is called clear on the way, which leaves something for the end."""

LAST_SHARE = 0.36
"""The part that the look at the end may spend on what is clear, whenever the end is."""


class Stage(StrEnum):
    """How far a response is."""

    WATCHED = "watched"
    ALARMED = "alarmed"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What all looks say of one response; all figures in the unit of its differences."""

    stage: Stage
    mean: float
    """The estimate, over the blocks that count: after an alarm those made since."""
    low: float
    """The lower limit; −∞ where nothing is known."""
    high: float
    """The upper limit: the lowest of all looks of its stage, which holds over all of them together; ∞ where nothing
    is known."""
    blocks: int
    """How many blocks count."""
    alarm: int | None
    """After how many blocks there was an alarm."""
    error: float
    """The standard error of ``mean``."""


def watched(
    differences: Sequence[float] | Array,
    *,
    allowance: float,
    family: int,
    ended: bool,
    requests: Sequence[int] | None = None,
) -> Watched:
    """Return what looks after ``LOOKS`` blocks say of one of ``family`` responses, and where it has ``ended`` one
    after the last.

    With m and e the trimmed mean and its standard error (`pairs.trimmed`; plain below ten blocks), t_p the upper
    quantile p of Student's t with their degrees of freedom, and w = ``LOOK_SHARE``:

    1. An alarm if m − t_p·e > ``allowance`` with p = w·``ALARM``/``family``. All blocks so far are then put aside.
    2. It is confirmed if the same holds of the fresh blocks alone, at their own looks, with p = w·``CONFIRM``.

    Fresh launches know nothing of the ones before, so a response that is not slower than allowed is called slower
    with a probability of at most ``ALARM``/``family`` × ``CONFIRM``, and any of them in at most ``ALARM`` ×
    ``CONFIRM`` = 1 % of checks. What both stages share, a lasting difference between two copies of one app, is
    what the allowance is for.

    The upper limit is the least m + t_p·e of all looks, p = ``PASSING_SHARE``·M, at the end ``LAST_SHARE``·M, with
    M = ``MISS_BEFORE``. After an alarm it is that of fresh blocks, M being the rest of ``MISS``: an alarm gives no
    second chance. A check passes only if all responses are below their limits, so each may have the whole of
    ``MISS`` (intersection-union). That the shares spend no more than the whole, over all looks, is counted in
    simulations: benchmarks/check.py.

    ``requests`` is given where a difference is one of shares of requests, which few blocks may have all of: how
    many the head's share is one of, block by block. The mean is plain then, for what trimming takes off is what is
    looked for, and the upper limit is wider by what so many requests without any error leave possible. The last
    look raises no alarm, which nothing could confirm.

    Source: Pocock 1977, Group sequential methods, Biometrika 64; Jennison & Turnbull 2000, Group Sequential
    Methods, chapter 3.8 (significance levels of known variance applied to t); Yuen 1974, Biometrika 61; Berger
    1982, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24; the "rule of three",
    Hanley & Lippman-Hand 1983, If nothing goes wrong, is everything all right?, JAMA 249.
    """
    values = np.asarray(differences, dtype=float)
    before = _Rates(exceed=ALARM / family, miss=MISS_BEFORE)
    first = _stage(values, requests, allowance, before, ended=ended)
    if not first.exceeded:
        return _watched(Stage.WATCHED, first, None)
    alarm = first.blocks
    after = _Rates(exceed=CONFIRM, miss=MISS - MISS_BEFORE)
    fresh = None if requests is None else requests[alarm:]
    second = _stage(values[alarm:], fresh, allowance, after, ended=ended)
    return _watched(Stage.CONFIRMED if second.exceeded else Stage.ALARMED, second, alarm)


def blocks_needed(seen: Watched, *, limit: float, allowance: float) -> int | None:
    """Return how many more blocks a response needs to be clear, or an alarm to be confirmed, if it stays as it is.

    The standard error shrinks with √n; degrees of freedom are taken as they will be. None where no number would do,
    or too little is known.
    """
    if not math.isfinite(seen.error) or seen.blocks < 2:
        return max(LOOKS[0] - seen.blocks, 1) if seen.stage is Stage.ALARMED else None
    spread = seen.error * math.sqrt(seen.blocks)
    alarmed = seen.stage is Stage.ALARMED
    miss = MISS - MISS_BEFORE if alarmed else MISS_BEFORE
    for n in range(max(seen.blocks + 1, LOOKS[0]), LOOKS[-1] + 1):
        error, kept = spread / math.sqrt(n), trimmed_from(n, ROBUST_FROM)
        confirmed = alarmed and seen.mean - _quantile(kept, LOOK_SHARE * CONFIRM) * error > allowance
        if confirmed or seen.mean + _quantile(kept, LAST_SHARE * miss) * error < limit:
            return n - seen.blocks
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    """What all looks of a stage may spend together."""

    exceed: float
    miss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    exceeded: bool
    mean: float
    low: float
    high: float
    blocks: int
    error: float


def _stage(
    values: Array, requests: Sequence[int] | None, allowance: float, rates: _Rates, *, ended: bool
) -> _Stage:
    """Look until the allowance is exceeded, or there is no other look."""
    total, high = len(values), math.inf
    robust_from = ROBUST_FROM if requests is None else total + 1
    unseen = [0.0] * total if requests is None else _unseen(requests, rates.miss)
    for n in (look for look in LOOKS if look <= total):
        mean, error, kept = _estimate(values[:n], robust_from)
        low = mean - _quantile(kept, LOOK_SHARE * rates.exceed) * error
        high = min(high, mean + _quantile(kept, PASSING_SHARE * rates.miss) * error + unseen[n - 1])
        if low > allowance:
            return _Stage(exceeded=True, mean=mean, low=low, high=high, blocks=n, error=error)
    if total < 2:
        mean = float(values.mean()) if total else math.nan
        return _Stage(exceeded=False, mean=mean, low=-math.inf, high=high, blocks=total, error=math.inf)
    mean, error, kept = _estimate(values, robust_from)
    if ended and total >= LOOKS[0]:
        high = min(high, mean + _quantile(kept, LAST_SHARE * rates.miss) * error + unseen[-1])
    low = mean - _quantile(kept, LOOK_SHARE * rates.exceed) * error
    return _Stage(exceeded=False, mean=mean, low=low, high=high, blocks=total, error=error)


def _unseen(requests: Sequence[int], miss: float) -> list[float]:
    """Return, after each block, the largest share of errors of which so many requests would show one, but for
    ``miss``."""
    return [-math.log(miss) / total for total in accumulate(requests)]


def _watched(stage: Stage, seen: _Stage, alarm: int | None) -> Watched:
    return Watched(
        stage=stage, mean=seen.mean, low=seen.low, high=seen.high, blocks=seen.blocks, alarm=alarm, error=seen.error
    )


def _estimate(values: Array, robust_from: int) -> tuple[float, float, int]:
    """Return the mean, trimmed from so many values on, its standard error, and how many values are left."""
    mean, variance = trimmed(values, robust_from)
    return float(mean), math.sqrt(float(variance) / len(values)), trimmed_from(len(values), robust_from)


def _quantile(kept: int, p: float) -> float:
    """Return the upper quantile ``p`` of t for a mean of ``kept`` values."""
    return critical(2, kept - 1, 2 * p)
