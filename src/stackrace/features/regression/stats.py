"""Whether one of two is slower than allowed: looks at their differences while they are measured.

A response's values come one after the other, positive where the head is worse. Two statements may be made of their
expectation θ: it is above the allowance, after an alarm that fresh values confirm; or it is below the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np

from ...stats.limits import critical
from ...stats.pairs import ROBUST_FROM, Array, trimmed, trimmed_from

ALARM = 0.20
"""The probability of an alarm about any response, over all looks, where none is slower than allowed."""

CONFIRM = 0.05
"""The probability that fresh values alone confirm an alarm about a response that is not slower than allowed."""

MISS = 0.05
"""The probability that a response is called clear although it is slower by its limit or more."""

MISS_BEFORE = 0.8 * MISS
"""The part of it that values before an alarm may spend; those after one may spend the rest."""

LOOKS = (3, 4, 6, 8, 10, 13, 16, 20, 25, 31, 38, 47, 58, 71, 87, 106, 130, 160, 190)
"""The numbers of values, since the beginning or since the alarm, after which something may be decided."""

_LOOK_SHARE = 0.09
"""Every look may spend this part of an error rate: they mostly see the same data, and spend all of it together."""

_PASSING_SHARE = 0.07
"""The same for what is called clear on the way, which leaves something for the end."""

_LAST_SHARE = 0.36
"""The part that the look at the end may spend on what is clear, whenever the end is."""

_USUAL = LOOKS[6]
"""So many values decide most checks: a guess for a response that has not even a spread."""

_MOST_TIMES = 1e4
"""What would take more data than so many times those there are is never decided."""


class Stage(StrEnum):
    """How far a response is."""

    WATCHED = "watched"
    ALARMED = "alarmed"
    CONFIRMED = "confirmed"


class Look(Protocol):
    """What some of a response's values say, all in the unit of its differences."""

    @property
    def value(self) -> float:
        """The estimate of θ."""

    def low(self, p: float, chance: float, times: float = 1.0) -> float:
        """Return the lower limit, which ``p`` of samples exceed where they vary as these do; −∞ without any.

        ``chance`` is for what single requests may do by chance. ``times``: if there were so many times the data,
        and they stayed as they are.
        """

    def high(self, p: float, chance: float, times: float = 1.0) -> float:
        """Return the upper limit; the same."""


class Sample(Protocol):
    """The values of one response, in order of time."""

    def __len__(self) -> int: ...

    def look(self, first: int, last: int) -> Look:
        """Return what values ``first`` to ``last`` (exclusive, at least one more) say."""

    def pairs(self, values: int) -> int:
        """Return of how many pairs of launches the first ``values`` are."""

    def pairs_for(self, values: int) -> int | None:
        """Return how many more pairs so many more values take, at the pace so far; None where that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """m ± t_p·e: a trimmed mean (`pairs.trimmed`; plain below ten values), and its standard error.

    t_p is the upper quantile p of Student's t with the degrees of freedom of the values that are left.
    """

    value: float
    error: float
    """Of ``value``; infinite of a single one."""
    values: int
    robust_from: int = ROBUST_FROM

    def low(self, p: float, chance: float, times: float = 1.0) -> float:
        return self.value - self._reach(p, times)

    def high(self, p: float, chance: float, times: float = 1.0) -> float:
        return self.value + self._reach(p, times)

    def _reach(self, p: float, times: float) -> float:
        if not math.isfinite(self.error):
            return math.inf
        kept = trimmed_from(max(round(self.values * times), 2), self.robust_from)
        return critical(2, kept - 1, 2 * p) * self.error / math.sqrt(times)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Differences:
    """One difference for each pair of launches, of values that every launch has."""

    values: Sequence[float] | Array

    def __len__(self) -> int:
        return len(self.values)

    def look(self, first: int, last: int) -> Look:
        return mean_of(self.values[first:last], ROBUST_FROM)

    def pairs(self, values: int) -> int:
        return values

    def pairs_for(self, values: int) -> int | None:
        return values


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares(Differences):
    """One difference of two shares of requests for each pair, which few pairs may have all of.

    The mean is plain, for what trimming takes off is what is looked for. The upper limit is wider by what so many
    requests without any error leave possible.

    Source: the "rule of three", Hanley & Lippman-Hand 1983, If nothing goes wrong, is everything all right?, JAMA
    249.
    """

    requests: Sequence[int]
    """What the head's share is one of, pair by pair."""

    def look(self, first: int, last: int) -> Look:
        mean = mean_of(self.values[first:last], last + 1)
        return _Share(
            value=mean.value, error=mean.error, values=mean.values, robust_from=mean.robust_from,
            requests=max(sum(self.requests[first:last]), 1),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share(Mean):
    requests: int

    def high(self, p: float, chance: float, times: float = 1.0) -> float:
        return Mean.high(self, p, chance, times) - math.log(chance) / (self.requests * times)


def mean_of(values: Sequence[float] | Array, robust_from: int) -> Mean:
    """Return the mean of at least one value, trimmed from ``robust_from`` on."""
    mean, variance = trimmed(np.asarray(values, dtype=float), robust_from)
    error = math.sqrt(float(variance) / len(values)) if len(values) > 1 else math.inf
    return Mean(value=float(mean), error=error, values=len(values), robust_from=robust_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one look says: an estimate, and limits that go with it."""

    value: float
    low: float = -math.inf
    high: float = math.inf
    first: int
    """The values that it rests on: from this one …"""
    last: int
    """… to this one, exclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What all looks say of one response."""

    stage: Stage
    clear: bool
    """Whether the last look of its stage rules out θ ≥ its limit."""
    figures: Figures | None
    """Those of the last look, or of the one that confirmed; before the first fresh value those of the alarm. None
    without a value."""
    alarm: int | None
    """After how many values there was an alarm."""


def watched(sample: Sample, *, allowance: float, limit: float, family: int, ended: bool) -> Watched:
    """Return what looks after ``LOOKS`` values say of one of ``family`` responses, and where it has ``ended`` one
    after the last.

    With w = ``_LOOK_SHARE``, and limits at p as the sample's `Look` has them:

    1. An alarm if the lower limit at p = w·``ALARM``/``family`` is above ``allowance``. All values so far are then
       put aside.
    2. It is confirmed if the same holds of the fresh values alone, at their own looks, with p = w·``CONFIRM``.

    Fresh launches know nothing of the ones before, so a response that is not slower than allowed is called slower
    with a probability of at most ``ALARM``/``family`` × ``CONFIRM``, and any of them in at most ``ALARM`` ×
    ``CONFIRM`` = 1 % of checks. What both stages share, a lasting difference between two copies of one app, is
    what the allowance is for.

    It is clear if the upper limit is below ``limit`` at the last look so far, at p = ``_PASSING_SHARE``·M, at the
    end ``_LAST_SHARE``·M, with M = ``MISS_BEFORE``: what later values contradict is clear no more. After an alarm
    fresh values alone may say so, M being the rest of ``MISS``: an alarm gives no second chance. A check passes
    only if all responses are clear, so each may have the whole of ``MISS`` (intersection-union). That the shares
    spend no more than the whole, over all looks, is counted in simulations: benchmarks/check.py.

    The figures are all of one look, the last, or the one that confirmed. The look at the end raises no alarm, which
    nothing could confirm.

    Source: Pocock 1977, Group sequential methods, Biometrika 64; Jennison & Turnbull 2000, Group Sequential
    Methods, chapter 3.8 (significance levels of known variance applied to t); Yuen 1974, Biometrika 61; Berger
    1982, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24.
    """
    first = _stage(sample, 0, allowance, limit, _before(family), ended=ended)
    if not first.exceeded:
        return Watched(stage=Stage.WATCHED, clear=first.clear, figures=first.figures, alarm=None)
    assert first.figures is not None
    alarm = first.figures.last
    second = _stage(sample, alarm, allowance, limit, _AFTER, ended=ended)
    return Watched(
        stage=Stage.CONFIRMED if second.exceeded else Stage.ALARMED,
        clear=second.clear,
        figures=second.figures or first.figures,
        alarm=alarm,
    )


def values_needed(sample: Sample, alarm: int | None, *, allowance: float, limit: float, family: int) -> int | None:
    """Return how many more values a response needs to be clear, or slower for sure, if it stays as it is.

    That is what its limits would be if there were so many times the data; degrees of freedom are taken as they
    will be. A response without a spread is taken to need as many as most do. None where no number would do.
    """
    begun = alarm or 0
    have = len(sample) - begun
    if have < 2:
        return (LOOKS[0] if alarm is not None else _USUAL) - have
    look, rates = sample.look(begun, len(sample)), _before(family) if alarm is None else _AFTER
    for n in _rising(max(have + 1, LOOKS[0]), have * _MOST_TIMES):
        times = n / have
        if look.high(_LAST_SHARE * rates.miss, rates.miss, times) < limit:
            return n - have
        if look.low(_LOOK_SHARE * rates.exceed, rates.exceed, times) > allowance:
            again = 0 if alarm is not None else LOOKS[0]
            while again and look.low(_LOOK_SHARE * CONFIRM, CONFIRM, again / have) <= allowance:
                again += 1
            return n - have + again
    return None


def _rising(first: int, most: float) -> Iterator[int]:
    """Yield numbers from ``first`` on, a twentieth apart."""
    n = first
    while n <= most:
        yield n
        n = max(n + 1, n * 21 // 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    """What all looks of a stage may spend together."""

    exceed: float
    miss: float


_AFTER = _Rates(exceed=CONFIRM, miss=MISS - MISS_BEFORE)


def _before(family: int) -> _Rates:
    return _Rates(exceed=ALARM / family, miss=MISS_BEFORE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    exceeded: bool = False
    clear: bool = False
    figures: Figures | None = None


def _stage(sample: Sample, first: int, allowance: float, limit: float, rates: _Rates, *, ended: bool) -> _Stage:
    """Look at the values from ``first`` on until the allowance is exceeded, or there is no other look."""
    total, last = len(sample) - first, None
    for n in (look for look in LOOKS if look <= total):
        last = _figures(sample, first, n, rates, _PASSING_SHARE)
        if last.low > allowance:
            return _Stage(exceeded=True, figures=last)
    if ended and total >= LOOKS[0]:
        last = _figures(sample, first, total, rates, _LAST_SHARE)
    if last is None and total:
        last = Figures(value=sample.look(first, first + total).value, first=first, last=first + total)
    return _Stage(clear=last is not None and last.high < limit, figures=last)


def _figures(sample: Sample, first: int, n: int, rates: _Rates, passing: float) -> Figures:
    look = sample.look(first, first + n)
    return Figures(
        value=look.value,
        low=look.low(_LOOK_SHARE * rates.exceed, rates.exceed),
        high=look.high(passing * rates.miss, rates.miss),
        first=first,
        last=first + n,
    )
