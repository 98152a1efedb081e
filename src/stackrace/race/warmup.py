"""Load that is not recorded: a fresh stack's until its throughput is steady, and some before each slice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..deploy.place import WARM_BIN_S, Enough, Place
from .plan import Cell

_SHORT_S = 1.0
"""With less than this no stretch is long enough to be called steady: then throughput must only not rise any more.
Fresh stacks reach their speed after 0.1 to 0.2 s: docs/decisions/0024-duty-cycle.md."""
_LEAST_BINS = 3
_LOOK_BINS = 4
"""How often it is asked whether throughput is steady, which takes some computing."""
_RISING = 0.1
_BINS_PER_POINT = 2
"""Bins of 100 ms are joined to 200 ms: short enough to see a change, long enough to be calm."""

REWARM_S = 0.1
"""Load sent before each slice and not recorded, so that a slice starts on warm connections and caches; more where
answers are slow. docs/decisions/0024-duty-cycle.md has the measurement."""

_ANSWERS = 3
"""A re-warm is so many answers long at least, so that every worker has given one and is at the next."""

MOST_REWARM_S = 0.5
"""Where answers are slower still, slices are no longer what such an app needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUp:
    """What came of a warm-up."""

    spent_s: float
    answers: int
    """Right ones."""
    answered_s: float
    """The time in which they came; all of it where there was none."""


def warm_up(place: Place, cell: Cell, cap_s: float, *, least_s: float = 0.0) -> WarmUp:
    """Send a cell's load until the throughput is steady or ``cap_s`` is over.

    It goes on for ``least_s`` at least: how long an answer takes, for nothing is known before one is there.
    """
    load = replace(cell.load, duration_s=cap_s, requests=None)
    least_bins = max(_LEAST_BINS, math.ceil(least_s / WARM_BIN_S))
    enough: Enough = (lambda counts: not rising(counts)) if cap_s < _SHORT_S else _steady(cap_s)
    seen: Sequence[int] = ()

    def look(counts: Sequence[int]) -> bool:
        nonlocal seen
        seen = counts
        return place.failure_of(cell.stack) is not None or (len(counts) >= least_bins and enough(counts))

    spent_s = place.warm_up(cell.stack, cell.workload, load, look)
    answers, answered_s = _delivered(seen)
    return WarmUp(spent_s=spent_s, answers=answers, answered_s=answered_s)


def _delivered(counts: Sequence[int]) -> tuple[int, float]:
    """Return the answers in bins of ``WARM_BIN_S``, and the seconds until the last of them came."""
    last = max((index for index, count in enumerate(counts) if count), default=len(counts) - 1)
    return sum(counts), (last + 1) * WARM_BIN_S


def _steady(cap_s: float) -> Enough:
    from ..stats.warmup import steadiness

    width_s = _BINS_PER_POINT * WARM_BIN_S
    least_s = min(3.0, cap_s / 2)

    def steady(counts: Sequence[int]) -> bool:
        if len(counts) % _LOOK_BINS:
            return False
        rates = [sum(counts[at : at + _BINS_PER_POINT]) / width_s for at in range(0, len(counts), _BINS_PER_POINT)]
        return steadiness(rates, width_s, least_s=least_s).steady

    return steady


def rising(counts: Sequence[int]) -> bool:
    """Tell whether the last bin has more answers than the one before, by a tenth and by more than chance.

    Chance is two standard deviations of the difference of two Poisson counts. Nothing is told of too few bins, or
    of none with an answer: then it is taken to rise.
    """
    if len(counts) < _LEAST_BINS or not counts[-1]:
        return True
    was, is_ = counts[-2:]
    return is_ - was > max(_RISING * was, 2 * math.sqrt(is_ + was))


def rewarm_s(answer_s: float | None) -> float:
    """Return the seconds for a stack that answers few connections in ``answer_s``, None if that is unknown."""
    return REWARM_S if answer_s is None else min(max(REWARM_S, _ANSWERS * answer_s), MOST_REWARM_S)
