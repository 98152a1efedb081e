"""What slices say of a configuration: its throughput, latency or memory, always in ln units, more being better."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...base.verdict import Effect
from ...measure.launch import Launch, Slice
from ...race.levels import Response, is_valid, throughput
from ...race.results.race import Race
from ...stacks.stack import original_path
from ...validity.generator import OF_LATENCY
from .model import GoalKind, TuningGoal
from .stats.weather import OneLaunch, Slices

__all__ = ["believed_for", "in_unit", "memory_bytes", "response_of", "slices_of"]


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


def slices_of(race: Race, blocks: Sequence[int]) -> Slices:
    """Return the throughput of all believed slices of K stacks in the ``blocks``; the race has one level.

    How busy a launch kept the cores is a share of those that its processes can use: one process cannot use more
    than one.
    """
    own = {
        (launch.stack, launch.block): _of_launch(launch, valid, len(race.cores.stack_cores))
        for launch in race.launches
        if launch.verdict.valid and not launch.cut_short and (valid := [*filter(_counts, launch.slices)])
    }
    return Slices.of([[own.get((path, block)) for block in blocks] for path in race.stacks])


def _of_launch(launch: Launch, valid: Sequence[Slice], cores: int) -> OneLaunch:
    return OneLaunch(
        values=[throughput(launch, one) for one in valid],
        moments_s=[one.result.started_at + one.result.duration_s / 2 for one in valid],
        busy=_busy(launch, valid, cores),
    )


def _counts(one: Slice) -> bool:
    return is_valid(one) and one.throughput_per_s > 0


def _busy(launch: Launch, valid: Sequence[Slice], cores: int) -> float:
    usable = min(max(sum(hop.processes for hop in one.usage) for one in launch.slices), cores)
    if not usable:
        return math.nan
    return min(sum(one.cpu_s for one in valid) / sum(one.result.duration_s for one in valid) / usable, 1.0)
