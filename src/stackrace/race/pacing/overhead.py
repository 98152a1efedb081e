"""Time beside slices, such as launches: estimated before the first launch, then measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ...measure.launch import Launch
from ...measure.workload import PageTime
from ...stacks.stack import Stack
from ..plan import RacePlan
from .pace import USUAL_LENGTHS, SliceLengths

_REST_S = 0.06
"""Assumed other time between two slices, before it is measured: the wait for idle stacks, the canary, counters."""

STOP_S = 0.5
"""Assumed time per stack to stop, before any stop is measured: stacks stop side by side, but their output is read
one by one. On two busy cores two stacks took 1 s, and 4.6 s if one had to be asked twice."""

REWARM_S = 0.1
"""Unrecorded load before each slice, so that it starts on warm connections and caches; more if answers are slow.
docs/decisions/0024-duty-cycle.md has the measurement."""

_ANSWERS = 3
"""Response times that a re-warm takes at least, so that every worker has given an answer and works on the next."""

_MOST_REWARM_S = 0.5
"""The longest re-warm: with slower answers, slices do not suit the app anyway."""

USUAL_LAUNCH_S = 1.5
"""Time of a launch before any is measured, unless the app is known to load more slowly."""

_SERVER_S = 0.2
"""Time of a launch beside loading the app: the servers' own start, their checkers, the answers over HTTP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Time of a block beside its slices, in seconds."""

    launch_s: float = USUAL_LAUNCH_S
    """Launch of one stack."""
    warmup_s: float = 1.0
    """Warm-up of one stack."""
    stop_s: float = 1.5
    """Stop of all stacks together."""
    rest_s: float = _REST_S
    """Pause between two slices beside the re-warm: waiting for idle stacks, the probe, checks."""

    @property
    def between_s(self) -> float:
        """Time between two slices."""
        return self.rest_s + REWARM_S

    def empty_block_s(self, stacks: int) -> float:
        """Return the seconds of a block of ``stacks`` stacks without any slice.

        The previous block's stacks stop while this block's stacks start and warm up.
        """
        return max(stacks * (self.launch_s + self.warmup_s), self.stop_s)


def expected_overhead(
    budget_s: float,
    stacks: int,
    lengths: SliceLengths = USUAL_LENGTHS,
    launch_s: float = USUAL_LAUNCH_S,
    *,
    most_blocks: int | None = None,
) -> Overhead:
    """Return the likely overhead of a block of ``stacks`` stacks, before any of them is launched.

    Slow pages, whose slices have other ``lengths``, also take longer to warm up, and their stacks take longer to
    become idle. An app that is slow to load makes each launch take ``launch_s``. Warm-ups are shorter if
    ``most_blocks`` is large.
    """
    usual = Overhead(
        launch_s=max(launch_s, USUAL_LAUNCH_S),
        warmup_s=_warmup_cap_s(budget_s, stacks, lengths.response_s, most_blocks=most_blocks),
    )
    return replace(usual, stop_s=max(usual.stop_s, STOP_S * stacks), rest_s=usual.rest_s + lengths.queue_s)


def overhead_of_launches(launches: Sequence[Launch], expected: Overhead) -> Overhead:
    """Return the overhead of the last block of ``launches``, with missing values from ``expected``."""
    last = max((launch.block for launch in launches), default=0)
    up = [launch for launch in launches if launch.block == last and launch.ready_s is not None]
    if not up:
        return expected
    return replace(
        expected,
        launch_s=fmean(launch.ready_s or 0.0 for launch in up),
        warmup_s=fmean(launch.warmup_s for launch in up),
    )


def _warmup_cap_s(budget_s: float, stacks: int, response_s: float, *, most_blocks: int | None = None) -> float:
    """Return the longest warm-up: a thirtieth of a stack's share of the budget, at least 0.5 s and one response
    time, at most 20 s, after which no stack becomes steady.

    If as many as ``most_blocks`` are wanted, all their warm-ups together may take a third of the budget.
    """
    share = 30 if most_blocks is None else max(3 * most_blocks, 30)
    return min(max(budget_s / stacks / share, 0.5, response_s), 20.0)


@dataclass(slots=True)
class OverheadMeter:
    """Meter of a block's time beside its slices, over all of its batches."""

    launching_s: float = 0.0
    warming_s: float = 0.0
    between_s: float = 0.0
    """Time before the slices so far, without the usual re-warm."""
    gaps: int = 0
    """Number of slices that ``between_s`` covers."""

    def add_gap(self, seconds: float) -> None:
        """Add the time before one slice."""
        self.between_s += seconds - REWARM_S
        self.gaps += 1

    def overhead(self, stacks: int, stop_s: float) -> Overhead:
        """Return the overhead for ``stacks`` stacks; ``stop_s`` is the time to assume for stopping them."""
        return Overhead(
            launch_s=self.launching_s / stacks,
            warmup_s=self.warming_s / stacks,
            stop_s=stop_s,
            rest_s=max(self.between_s / self.gaps, 0.0) if self.gaps else _REST_S,
        )


def launch_s(stacks: Sequence[Stack], loading: PageTime, cores: int) -> float:
    """Return the mean seconds that launches of ``stacks`` take until the first right answer.

    ``loading`` is the time for one process to load the app. Processes that load it side by side share the ``cores``
    that a stack may start on: together they take no less than their CPU time divided by the cores. A server that
    loads the app before it starts its processes loads it once.
    """
    return _SERVER_S + fmean(
        max(loading.wall_s, stack.hops[-1].loaders * loading.cpu_s / cores) for stack in stacks
    )


def planned_overhead(plan: RacePlan, lengths: SliceLengths) -> Overhead:
    """Return the likely overhead of a block of ``plan`` with slices of these ``lengths``; ``plan`` has a budget."""
    assert plan.budget_s is not None
    return expected_overhead(
        plan.budget_s, len(plan.stacks), lengths, planned_launch_s(plan), most_blocks=plan.most_blocks
    )


def planned_launch_s(plan: RacePlan, left_out: Sequence[Stack] = ()) -> float:
    """Return the mean seconds that launches of the stacks of ``plan``, and of those ``left_out``, take."""
    return launch_s((*plan.stacks, *left_out), plan.loading, plan.start_cores)


def rewarm_s(answer_s: float | None) -> float:
    """Return the seconds of re-warm for a stack; ``answer_s`` is its response time with few connections, None if
    unknown."""
    return REWARM_S if answer_s is None else min(max(REWARM_S, _ANSWERS * answer_s), _MOST_REWARM_S)
