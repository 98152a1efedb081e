"""What a launch is expected to take, from what the app takes to load. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ..measure.page_time import PageTime
from ..stacks.stack import Stack
from .results.race import RacePlan

__all__ = ["launch_s", "planned_launch_s"]

SERVER_S = 0.2
"""What a launch takes beside loading the app: the servers' own start, their checkers, the answers over HTTP."""


def launch_s(stacks: Sequence[Stack], loading: PageTime, cores: int) -> float:
    """Return the seconds that a launch of one of ``stacks`` takes on average, until it answers rightly.

    The app's ``loading`` is what one process takes for it. Processes that load it side by side share the ``cores``
    that a stack may start on: together they take no less than their CPU time over the cores. A server that loads it
    before it makes its processes loads it once.
    """
    return SERVER_S + fmean(max(loading.wall_s, stack.hops[-1].loaders * loading.cpu_s / cores) for stack in stacks)


def planned_launch_s(plan: RacePlan, left_out: Sequence[Stack] = ()) -> float:
    """Return the seconds that a launch of the stacks of ``plan``, and of those ``left_out``, takes on average."""
    return launch_s((*plan.stacks, *left_out), plan.loading, plan.start_cores)
