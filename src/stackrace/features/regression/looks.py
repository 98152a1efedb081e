"""True if one of two is slower than allowed: looks at their differences while they are measured.

A response's values come one after the other, positive where the head is worse. Two statements may be made of their
expectation θ: it is above the allowance, after an alarm that fresh values confirm; or it is below the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ...race.results.comparison import State, Terms
from .samples import Sample

_ALARM = 0.20
"""The probability of an alarm about any response, over all looks, where none is slower than allowed."""

_CONFIRM = 0.05
"""The probability that fresh values alone confirm an alarm about a response that is not slower than allowed."""

_MISS = 0.05
"""The probability that a response is called clear although it is slower by its limit or more."""

_MISS_BEFORE = 0.8 * _MISS
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
"""Values that decide most checks: a guess for a response without a spread yet."""

_MOST_TIMES = 1e4
"""What would take more data than so many times those there are is never decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
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

    sample: Sample
    terms: Terms
    family: int
    """Number of responses that are judged together."""
    state: State
    figures: _Figures | None
    """Figures of the last look, or of the one that confirmed; before the first fresh value those of the alarm. None
    without a value."""
    alarm: int | None
    """After how many values there was an alarm."""

    @property
    def pairs_needed(self) -> int | None:
        """How many more pairs of launches it needs if it stays as it is; None where no number would do."""
        values = _values_needed(self.sample, self.terms, self.alarm, family=self.family)
        return None if values is None else self.sample.pairs_for(values)


def watched(sample: Sample, terms: Terms, *, family: int, ended: bool) -> Watched:
    """Return what looks after ``LOOKS`` values say of one of ``family`` responses, and where it has ``ended`` one
    after the last.

    With w = ``_LOOK_SHARE``, and limits at p as the sample's `samples.Look` has them:

    1. An alarm if the lower limit at p = w·``_ALARM``/``family`` is above ``allowance``. All values so far are then
       put aside.
    2. It is confirmed if the same holds of the fresh values alone, at their own looks, with p = w·``_CONFIRM``.

    Fresh launches know nothing of the ones before, so a response that is not slower than allowed is called slower
    with a probability of at most ``_ALARM``/``family`` × ``_CONFIRM``, and any of them in at most ``_ALARM`` ×
    ``_CONFIRM`` = 1 % of checks. What both stages share, a lasting difference between two copies of one app, is
    what the allowance is for.

    It is clear if the upper limit is below ``limit`` at the last look so far, at p = ``_PASSING_SHARE``·M, at the
    end ``_LAST_SHARE``·M, with M = ``_MISS_BEFORE``: what later values contradict is clear no more. After an alarm
    fresh values alone may say so, M being the rest of ``_MISS``: an alarm gives no second chance. A check passes
    only if all responses are clear, so each may have the whole of ``_MISS`` (intersection-union). That the shares
    spend no more than the whole, over all looks, is counted in simulations: benchmarks/check.py.

    The figures are all of one look, the last, or the one that confirmed. The look at the end raises no alarm, which
    nothing could confirm.

    Source: Pocock 1977, Group sequential methods, Biometrika 64; Jennison & Turnbull 2000, Group Sequential
    Methods, chapter 3.8 (significance levels of known variance applied to t); Yuen 1974, Biometrika 61; Berger
    1982, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24.
    """
    bounds, seen = _bounds(sample, terms), partial(Watched, sample=sample, terms=terms, family=family)
    exceeded, figures = _stage(sample, 0, bounds, _before(family), ended=ended)
    if not exceeded or figures is None:
        state = State.CLEAR if _is_clear(figures, bounds) else State.OPEN if figures else State.UNKNOWN
        return seen(state=state, figures=figures, alarm=None)
    confirmed, fresh = _stage(sample, figures.last, bounds, _AFTER, ended=ended)
    state = State.SLOWER if confirmed else State.CLEAR if _is_clear(fresh, bounds) else State.ALARM
    return seen(state=state, figures=fresh or figures, alarm=figures.last)


def _values_needed(sample: Sample, terms: Terms, alarm: int | None, *, family: int) -> int | None:
    """Return how many more values a response needs to be clear, or slower for sure, if it stays as it is.

    That is what its limits would be if there were so many times the data; degrees of freedom are taken as they
    will be. A response without a spread is taken to need as many as most do. None where no number would do.
    """
    begun = alarm or 0
    have = len(sample) - begun
    if have < 2:
        return (LOOKS[0] if alarm is not None else _USUAL) - have
    look, bounds = sample.look(begun, len(sample)), _bounds(sample, terms)
    rates = _before(family) if alarm is None else _AFTER
    for n in _rising(max(have + 1, LOOKS[0]), have * _MOST_TIMES):
        times = n / have
        if look.high(_LAST_SHARE * rates.miss, rates.miss, times) < bounds.limit:
            return n - have
        if look.low(_LOOK_SHARE * rates.exceed, rates.exceed, times) > bounds.allowance:
            fresh = 0 if alarm is not None else LOOKS[0]
            while fresh and look.low(_LOOK_SHARE * _CONFIRM, _CONFIRM, fresh / have) <= bounds.allowance:
                fresh += 1
            return n - have + fresh
    return None


def _bounds(sample: Sample, terms: Terms) -> Terms:
    return Terms(allowance=sample.difference(terms.allowance), limit=sample.difference(terms.limit))


def _rising(first: int, most: float) -> Iterator[int]:
    n = first
    while n <= most:
        yield n
        n = max(n + 1, n * 21 // 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    exceed: float
    miss: float


_AFTER = _Rates(exceed=_CONFIRM, miss=_MISS - _MISS_BEFORE)


def _before(family: int) -> _Rates:
    return _Rates(exceed=_ALARM / family, miss=_MISS_BEFORE)


def _stage(
    sample: Sample, first: int, bounds: Terms, rates: _Rates, *, ended: bool
) -> tuple[bool, _Figures | None]:
    """Look at the values from ``first`` on until the allowance is exceeded, or there is no other look.

    Return whether it is exceeded, and the figures of the last look; without any look those of the values alone.
    """
    total, last = len(sample) - first, None
    for n in (look for look in LOOKS if look <= total):
        last = _figures(sample, first, n, rates, _PASSING_SHARE)
        if last.low > bounds.allowance:
            return True, last
    if ended and total >= LOOKS[0]:
        last = _figures(sample, first, total, rates, _LAST_SHARE)
    if last is None and total:
        last = _Figures(value=sample.look(first, first + total).value, first=first, last=first + total)
    return False, last


def _is_clear(figures: _Figures | None, bounds: Terms) -> bool:
    return figures is not None and figures.high < bounds.limit


def _figures(sample: Sample, first: int, n: int, rates: _Rates, passing: float) -> _Figures:
    look = sample.look(first, first + n)
    return _Figures(
        value=look.value,
        low=look.low(_LOOK_SHARE * rates.exceed, rates.exceed),
        high=look.high(passing * rates.miss, rates.miss),
        first=first,
        last=first + n,
    )
