"""Load a fresh stack until its throughput is steady."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..deploy.place import Place
from ..model.race import Cell

__all__ = ["rising", "warm_up"]

STEP_S = 0.5
SHORT_S, SHORT_STEP_S, AGAIN_S = 1.0, 0.3, 0.2
"""With less than ``SHORT_S`` no stretch is long enough to be called steady: then throughput must only not rise any
more, and is looked at again after ``AGAIN_S``. Fresh stacks reach their speed after 0.1 to 0.2 s:
docs/decisions/0024-duty-cycle.md."""
RISING = 0.1
BINS_PER_POINT = 2
"""The engine's bins of 100 ms are joined to 200 ms: short enough to see a change, long enough to be calm."""


def warm_up(place: Place, cell: Cell, cap_s: float, *, least_s: float = 0.0) -> float:
    """Send a cell's load until the throughput is steady or ``cap_s`` is over; returns the seconds spent.

    It is looked every ``STEP_S``, or every ``least_s``: how long an answer takes, for a shorter step would end
    before anything is answered.
    """
    from ..stats.warmup import steadiness

    step_s = min(max(STEP_S if cap_s >= SHORT_S else SHORT_STEP_S, least_s), cap_s)
    spent_s = 0.0
    rates: list[float] = []
    earlier: list[int] = []
    level: list[int] = []
    while spent_s + step_s <= cap_s + 1e-9:
        timed = replace(cell.load, duration_s=step_s, requests=None)
        result = place.load(cell.stack, cell.workload, timed, 0.0).result
        spent_s += step_s
        counts = [bin_.ok for bin_ in result.series]
        # later steps begin with empty queues, as the first did: only how each ends can be compared
        level += counts[-1:] if level else counts
        if cap_s < SHORT_S:
            step_s = min(max(AGAIN_S, least_s), step_s)
        width = result.duration_s / max(len(counts), 1) * BINS_PER_POINT
        # a step's odd bin joins the first of the next
        joined = [*earlier, *counts]
        whole = len(joined) // BINS_PER_POINT * BINS_PER_POINT
        rates += [sum(joined[at : at + BINS_PER_POINT]) / width for at in range(0, whole, BINS_PER_POINT)]
        earlier = joined[whole:]
        if place.failure_of(cell.stack) or (cap_s < SHORT_S and not rising(level)):
            break
        if steadiness(rates, width, least_s=min(3.0, cap_s / 2)).steady:
            break
    return spent_s


def rising(counts: Sequence[int]) -> bool:
    """Tell whether the last bin has more answers than the one before, by a tenth and by more than chance.

    Chance is two standard deviations of the difference of two Poisson counts. Nothing is told of too few bins, or
    of none with an answer: then it is taken to rise.
    """
    if len(counts) < 3 or not counts[-1]:
        return True
    was, is_ = counts[-2:]
    return is_ - was > max(RISING * was, 2 * math.sqrt(is_ + was))
