"""What is asked of a tuner, and its goal as it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...base.errors import InputError
from ...base.numbers import setting
from ...base.units import RATE
from ...race.request.request import RaceRequest
from .model import GoalKind, TuningGoal, TuningLimits

_GOAL_EXAMPLES = '"throughput", "p99 at 200/s" or "memory at 500/s"'

_AT = re.compile(r"(p50|p90|p99|p99\.9|p999|memory)\s+at\s+(\S+)")
_QUANTILES = {"p99.9": "p999"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRequest:
    """The best settings of one stack for one app, within limits."""

    race: RaceRequest
    """The app, its pages, its cores and the budget; its stacks are not looked at."""
    stack: str
    """The path whose settings are tuned."""
    goal: TuningGoal = field(default_factory=TuningGoal)
    limits: TuningLimits = field(default_factory=TuningLimits)
    vary: tuple[str, ...] = ()
    """The settings to tune; see `tuning_space.space_of`."""
    current: str | None = None
    """The path of what the project is deployed with today."""
    core_count: int | None = None
    """How many cores each configuration may use; None for what ``race`` says."""


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
        raise InputError(f"--goal {text!r} is no goal; write it like {_GOAL_EXAMPLES}")
    try:
        rate_per_s = RATE.parse(match[2])
    except InputError as error:
        raise InputError(f"--goal {text!r}: {error.message}") from error
    if not 0.1 <= rate_per_s <= 1_000_000:
        raise InputError(f"--goal {text!r}: a rate is 0.1/s to 1M/s")
    if match[1] == GoalKind.MEMORY:
        return TuningGoal(kind=GoalKind.MEMORY, rate_per_s=rate_per_s)
    quantile = _QUANTILES.get(match[1], match[1])
    return TuningGoal(kind=GoalKind.LATENCY, rate_per_s=rate_per_s, quantile=quantile)


def goal_text(goal: TuningGoal) -> str:
    """Return ``goal`` as `parse_goal` reads it."""
    if goal.kind is GoalKind.THROUGHPUT or goal.rate_per_s is None:
        return GoalKind.THROUGHPUT.value
    what = "memory" if goal.kind is GoalKind.MEMORY else goal.quantile
    return f"{what} at {setting(goal.rate_per_s)}/s"
