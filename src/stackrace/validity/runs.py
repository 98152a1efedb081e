"""Did a run of a race with repeats come to its end?"""

from __future__ import annotations

from dataclasses import dataclass

from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Made
from .observation import Observation

__all__ = ["BoundedRun", "run_cut_off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedRun:
    """A run that ends after a number of requests, or when its time is over."""

    observation: Observation
    requests: int | None
    """The number that it should make; None where only time bounds it."""
    limit_s: float
    """The time that it had."""


@Declaration(
    id="run-cut-off",
    number=0,
    title="run cut off",
    made=(Made.SLICE,),
    effects=(Effect.WARNS,),
    unit=Unit.COUNT,
    threshold="all within {limit_s:duration}",
    rule="all requests in time",
    seen="{value:.0f} of {limit:.0f} requests were answered or failed in time",
    remedy="is the stack that slow, or does it hang? Give fewer [load] requests, or a larger [race] budget",
)
def run_cut_off(run: BoundedRun) -> Finding | None:
    """A run with a fixed number of requests ended before all were sent.

    Its throughput holds, its length does not.
    """
    result = run.observation.result
    if run.requests is None or result.duration_s < run.limit_s:
        return None
    return run_cut_off.finding(value=run.observation.tried, limit=run.requests, limit_s=run.limit_s)
