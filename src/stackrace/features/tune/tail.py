"""How many requests a quantile of latency rests on, and how long slices must be for it."""

from __future__ import annotations

import math

from ...base.errors import InputError
from ...base.numbers import count, setting
from ...base.units import DURATION
from ...measure.engine.histogram import QUANTILES
from ...measure.engine.load_run import label
from ...race.rows import LEAST_BEYOND
from .model import TuningGoal

__all__ = ["LEAST_SLICE_S", "MOST_SLICE_S", "requests_for", "tail_slice_s"]

LEAST_SLICE_S, MOST_SLICE_S = 0.5, 10.0
"""Of a tuning, unless --slice says otherwise: a block of thirty longer ones would take the whole budget."""


def requests_for(quantile: str) -> int:
    """Return how many requests a slice needs for a quantile: ``LEAST_BEYOND`` must lie beyond it.

    >>> requests_for("p50"), requests_for("p99"), requests_for("p999")
    (20, 1000, 10000)
    """
    return round(LEAST_BEYOND / (1 - QUANTILES[quantile]))


def tail_slice_s(goal: TuningGoal, asked_s: float | None) -> float:
    """Return how long slices are for the quantile of ``goal``: as ``asked_s``, else as it needs.

    Raises InputError where that is too short, or would be more than ``MOST_SLICE_S``: with the lowest rate and the
    quantile that would do.
    """
    assert goal.rate_per_s is not None
    needed_s = requests_for(goal.quantile) / goal.rate_per_s
    spelt, enough = label(goal.quantile), count(requests_for(goal.quantile))
    if asked_s is not None:
        if asked_s < needed_s * (1 - 1e-9):
            raise InputError(
                f"--slice {DURATION.format(asked_s)} has {count(asked_s * goal.rate_per_s)} requests at "
                f"{setting(goal.rate_per_s)}/s; {spelt} needs {enough}: give --slice {math.ceil(needed_s)}s or "
                f"more{_or_leave_out(needed_s <= MOST_SLICE_S)}"
            )
        return asked_s
    if needed_s > MOST_SLICE_S:
        lowest = _text(goal.quantile, math.ceil(requests_for(goal.quantile) / MOST_SLICE_S))
        raise InputError(
            f"--goal '{_text(goal.quantile, goal.rate_per_s)}' needs slices of {DURATION.format(needed_s)}, for "
            f"{spelt} rests on {enough} requests; give {_lower(goal)}'{lowest}' or a higher rate, or "
            f"--slice {math.ceil(needed_s)}s and a long --budget"
        )
    return max(needed_s, LEAST_SLICE_S)


def _or_leave_out(is_enough: bool) -> str:
    return ", or leave it out" if is_enough else ""


def _lower(goal: TuningGoal) -> str:
    """Return the highest quantile that the rate would do for, as a goal; empty where none is."""
    assert goal.rate_per_s is not None
    fitting = [q for q in QUANTILES if requests_for(q) <= goal.rate_per_s * MOST_SLICE_S]
    return f"'{_text(fitting[-1], goal.rate_per_s)}', " if fitting else ""


def _text(quantile: str, rate_per_s: float) -> str:
    """Return a goal as it is given on the command line."""
    return f"{label(quantile)} at {setting(rate_per_s)}/s"
