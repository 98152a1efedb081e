"""Sequential test of one response: is the head slower than allowed? It looks at the data while they are measured.

A response's values come one after the other, positive if the head is worse. Two statements about their
expectation θ are possible: it is above the allowance, after an alarm that fresh values confirm; or it is below
the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ..results.comparison import State, Terms
from .samples import Sample

_ALARM = 0.20
"""The probability of an alarm about any response, over all looks, if none is slower than allowed."""

_CONFIRM = 0.05
"""The probability that fresh values alone confirm an alarm about a response that is not slower than allowed."""

_MISS = 0.05
"""The probability that a response is called clear although it is slower by its limit or more."""

_MISS_BEFORE = 0.8 * _MISS
"""The part of ``_MISS`` that looks before an alarm may spend; the rest is for looks after it."""

LOOKS = (3, 4, 6, 8, 10, 13, 16, 20, 25, 31, 38, 47, 58, 71, 87, 106, 130, 160, 190)
"""The numbers of values, since the beginning or since the alarm, after which something may be decided."""

_LOOK_SHARE = 0.09
"""The part of an error rate that each look may spend. All looks together spend the whole of it, since they
mostly see the same data."""

_PASSING_SHARE = 0.07
"""The part of an error rate that each look before the end may spend to call a response clear; some is left for the
end."""

_LAST_SHARE = 0.36
"""The part of an error rate that the look at the end may spend to call a response clear, whenever the end is."""

_USUAL = LOOKS[6]
"""Number of values that decides most checks: assumed for a response that has no spread yet."""

_MOST_TIMES = 1e4
"""A response that would need more than this many times its data counts as impossible to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
    value: float
    low: float = -math.inf
    high: float = math.inf
    first: int
    """Index of the first value that the figures come from."""
    last: int
    """Index after the last value that the figures come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Result of all looks at one response."""

    sample: Sample
    terms: Terms
    family: int
    """Number of responses that are judged together."""
    state: State
    figures: _Figures | None
    """Figures of the last look, or of the look that confirmed an alarm; those of the alarm until fresh values come.
    None if there are no values."""
    alarm: int | None
    """Number of values after which there was an alarm; None without an alarm."""

    @property
    def pairs_needed(self) -> int | None:
        """Number of further pairs of launches that would decide the response if its values stay as they are.

        None if no number would.
        """
        values = _values_needed(self.sample, self.terms, self.alarm, family=self.family)
        return None if values is None else self.sample.pairs_for(values)


def watched(sample: Sample, terms: Terms, *, family: int, ended: bool) -> Watched:
    """Return the result of the looks at one of ``family`` responses: after ``LOOKS`` values, and at the end.

    ``ended`` is True if there is a look at the end. With w = ``_LOOK_SHARE``, and limits at p as in `samples.Look`:

    1. There is an alarm if the lower limit at p = w·``_ALARM``/``family`` is above ``allowance``. All values so far
       are then put aside.
    2. The alarm is confirmed if the lower limit of the fresh values alone is above ``allowance``, too, at looks
       that count from the alarm, with p = w·``_CONFIRM``.

    Fresh launches do not depend on earlier ones, so a response that is not slower than allowed is called slower
    with a probability of at most ``_ALARM``/``family`` × ``_CONFIRM``, and any of them in at most ``_ALARM`` ×
    ``_CONFIRM`` = 1 % of checks. A lasting difference between two copies of one app affects both stages: the
    allowance is there for it.

    The response is clear if the upper limit is below ``limit`` at the last look so far, at p =
    ``_PASSING_SHARE``·M, at the end ``_LAST_SHARE``·M, with M = ``_MISS_BEFORE``. If later values contradict,
    it is no longer clear. After an alarm only fresh values can make it clear, with the rest of ``_MISS`` as M:
    an alarm gives no second chance. A check passes only if all responses are clear, so each may use the whole
    of ``_MISS`` (intersection-union). Simulations in benchmarks/check.py show that the shares of all looks
    spend no more than the whole.

    All figures come from one look: the last, or the one that confirmed. The look at the end raises no alarm, since
    nothing could confirm it.

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
    """Return how many further values would make a response clear, or confirmed as slower, if it stays as it is.

    The limits are computed as for so many times the data, with the degrees of freedom of so many values. A response
    without a spread is assumed to need as many values as most do. None if no number would be enough.
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
    """Look at the values from ``first`` on until the allowance is exceeded, or no look is left.

    Return True if the allowance is exceeded, and the figures of the last look. Before the first look, the figures
    have no limits; without values they are None.
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
