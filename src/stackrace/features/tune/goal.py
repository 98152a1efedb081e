"""A tuning's goal: how it is written, and the slices that it takes."""

from __future__ import annotations

import math
import re

from ...base.errors import InputError
from ...base.numbers import count, setting
from ...base.units import DURATION, RATE
from ...measure.engine.histogram import QUANTILES
from ...measure.engine.load_run import label
from ...race.standing import LEAST_BEYOND
from .model import GoalKind, TuningGoal

_EXAMPLES = '"throughput", "p99 at 200/s" or "memory at 500/s"'

_AT = re.compile(r"(p50|p90|p99|p99\.9|p999|memory)\s+at\s+(\S+)")


def parse_goal(text: str) -> TuningGoal:
    """Return the goal that ``text`` says; raises InputError with examples.

    >>> parse_goal("p99 at 200/s").rate_per_s
    200.0
    """
    words = " ".join(text.lower().split())
    if words == GoalKind.THROUGHPUT:
        return TuningGoal()
    match = _AT.fullmatch(words)
    if match is None:
        raise InputError(f"--goal {text!r} is no goal; write it like {_EXAMPLES}")
    try:
        rate_per_s = RATE.parse(match[2])
    except InputError as error:
        raise InputError(f"--goal {text!r}: {error.message}") from error
    if not 0.1 <= rate_per_s <= 1_000_000:
        raise InputError(f"--goal {text!r}: a rate is 0.1/s to 1M/s")
    if match[1] == GoalKind.MEMORY:
        return TuningGoal(kind=GoalKind.MEMORY, rate_per_s=rate_per_s)
    return TuningGoal(kind=GoalKind.LATENCY, rate_per_s=rate_per_s, quantile=match[1].replace(".", ""))


LEAST_SLICE_S, MOST_SLICE_S = 0.5, 10.0
"""Of a tuning, unless --slice says otherwise: a block of thirty longer ones would take the whole budget."""


def tail_slice_s(goal: TuningGoal, asked_s: float | None) -> float:
    """Return how long slices are for the quantile of ``goal``: as ``asked_s``, else as it needs.

    Raises InputError where that is too short, or would be more than ``MOST_SLICE_S``: with the lowest rate and the
    quantile that would do.
    """
    rate_per_s, requests = goal.rate_per_s, _requests_for(goal.quantile)
    assert rate_per_s is not None
    needed_s, enough = requests / rate_per_s, count(requests)
    if asked_s is not None:
        if asked_s < needed_s * (1 - 1e-9):
            raise InputError(
                f"--slice {DURATION.format(asked_s)} has {count(asked_s * rate_per_s)} requests at "
                f"{setting(rate_per_s)}/s; {label(goal.quantile)} needs {enough}: give --slice "
                f"{math.ceil(needed_s)}s or more{', or leave it out' if needed_s <= MOST_SLICE_S else ''}"
            )
        return asked_s
    if needed_s > MOST_SLICE_S:
        fitting = [q for q in QUANTILES if _requests_for(q) <= rate_per_s * MOST_SLICE_S]
        lower = f"'{_spelt(fitting[-1], rate_per_s)}', " if fitting else ""
        lowest = _spelt(goal.quantile, math.ceil(requests / MOST_SLICE_S))
        raise InputError(
            f"--goal '{_spelt(goal.quantile, rate_per_s)}' needs slices of {DURATION.format(needed_s)}, for "
            f"{label(goal.quantile)} rests on {enough} requests; give {lower}'{lowest}' or a higher rate, or "
            f"--slice {math.ceil(needed_s)}s and a long --budget"
        )
    return max(needed_s, LEAST_SLICE_S)


def _requests_for(quantile: str) -> int:
    """Return how many requests a slice needs for a quantile: ``LEAST_BEYOND`` must lie beyond it.

    >>> _requests_for("p50"), _requests_for("p99"), _requests_for("p999")
    (20, 1000, 10000)
    """
    return round(LEAST_BEYOND / (1 - QUANTILES[quantile]))


def _spelt(quantile: str, rate_per_s: float) -> str:
    """Return a goal as it is given on the command line."""
    return f"{label(quantile)} at {setting(rate_per_s)}/s"
