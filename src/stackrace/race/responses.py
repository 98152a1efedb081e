"""What configurations are compared by: throughput, latency or memory, always in ln units, more being better."""

from __future__ import annotations

import math

from ..model.launch import Launch, Slice
from ..model.tuned import GoalKind, TuningGoal
from .levels import Response, throughput

__all__ = ["in_unit", "response_of"]


def response_of(goal: TuningGoal) -> Response:
    """Return ln throughput, −ln latency in seconds, or −ln memory in bytes."""
    if goal.kind is GoalKind.THROUGHPUT:
        return throughput
    if goal.kind is GoalKind.MEMORY:
        return _memory

    def latency(launch: Launch, slice_: Slice) -> float:
        value_s = getattr(slice_.result.latency, goal.quantile)
        return -math.log(value_s) if value_s > 0 else math.nan

    return latency


def in_unit(goal: TuningGoal, response: float) -> float:
    """Return a response in the goal's own unit: requests per second, seconds or bytes."""
    return math.exp(response if goal.kind is GoalKind.THROUGHPUT else -response)


def _memory(launch: Launch, slice_: Slice) -> float:
    return -math.log(launch.peak_bytes) if launch.peak_bytes > 0 else math.nan
