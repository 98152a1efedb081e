"""What configurations are compared by: throughput, latency or memory, always in ln units, more being better."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...base.verdict import Effect
from ...measure.launch import Launch, Slice
from ...race.levels import Response, is_valid, throughput
from ...stacks.stack import original_path
from ...validity import OF_LATENCY
from .model import GoalKind, TuningGoal

__all__ = ["believed_for", "in_unit", "memory_bytes", "response_of"]


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


def believed_for(goal: TuningGoal) -> Callable[[Slice], bool]:
    """Return which slices count: what memory a rate takes does not hang on when exactly requests were sent."""
    if goal.kind is not GoalKind.MEMORY:
        return is_valid
    return lambda slice_: all(
        finding.effect is not Effect.INVALIDATES or finding.check in OF_LATENCY
        for finding in slice_.verdict.findings
    )


def in_unit(goal: TuningGoal, response: float) -> float:
    """Return a response in the goal's own unit: requests per second, seconds or bytes."""
    return math.exp(response if goal.kind is GoalKind.THROUGHPUT else -response)


def memory_bytes(launch: Launch) -> int:
    """Return the most memory that a launch's own hops were seen to hold, services left out; 0 where nobody looked.

    Samples are few where looking is expensive, so what was known at the end of each slice counts, too.
    """
    path = original_path(launch.stack)
    own = (
        sum(usage.pss_bytes for usage in slice_.usage if usage.hop.partition("#")[0] in path)
        for slice_ in launch.slices
    )
    return max((launch.peak_bytes, *own))


def _memory(launch: Launch, slice_: Slice) -> float:
    held = memory_bytes(launch)
    return -math.log(held) if held > 0 else math.nan
