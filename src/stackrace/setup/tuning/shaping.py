"""A prepared race of all configurations becomes one of those within the limits, under the goal's load."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...model.errors import InputError, RefusedError
from ...model.load import Load
from ...model.numbers import percent
from ...model.preparing import OnPreparing
from ...model.race import RacePlan
from ...model.stack import Stack
from ...model.tuned import GoalKind, Infeasible, Needs, Tuning, TuningGoal, TuningLimits, Unfit
from ...model.units import SIZE
from ...race.pace import planned_lengths
from ..prepared import PreparedRace
from .candidates import Candidates
from .needs import beyond, measured_needs, model_of, pilots

__all__ = ["TOGETHER", "shaped", "under_goal"]

TOGETHER = 8
"""So many configurations are up at once: each may hold as many connections to a database as there may be."""

OPEN_CONNECTIONS = 256
"""Connections of the open loop at most."""

LEAST_SLICE_S, MOST_SLICE_S = 0.5, 10.0
TAIL_REQUESTS = 300
"""So many requests make a slice whose 99th percentile is looked at."""


def under_goal(fresh: PreparedRace, tuning: Tuning) -> PreparedRace:
    """Return ``fresh`` under the load of the goal: one level, slices that its response needs."""
    plan = fresh.plan
    load = _load(plan, tuning.goal)
    plan = replace(plan, loads=(load,), together=TOGETHER, twin=False)
    plan = replace(plan, slice_s=plan.slice_s or _slice_s(plan, tuning.goal))
    fresh.place.watches_needs = True
    return replace(fresh, plan=plan, race=replace(fresh.race, loads=(load,), tuning=tuning))


def shaped(fresh: PreparedRace, asked: Candidates, on_preparing: OnPreparing) -> PreparedRace:
    """Return the race of those configurations of ``fresh`` that are within the limits, as two measured ones tell.

    Raises RefusedError where none is, naming the one that needs the least and by how much it is beyond.
    """
    ready = under_goal(fresh, asked.tuning)
    limits = asked.tuning.limits
    if limits == TuningLimits():
        return ready
    place, plan = ready.place, ready.plan
    begun = time.monotonic()
    measured = {
        stack: measured_needs(place, stack, plan.workloads[0], plan.loads[0], on_preparing)
        for stack in pilots(plan.stacks)
    }
    _refuse_uncounted(limits, measured)
    model = model_of(measured)
    out = [one for stack in plan.stacks if (one := beyond(stack, limits, model, measured)) is not None]
    named = {one.stack for one in out}
    left = tuple(stack for stack in plan.stacks if stack.path not in named)
    if not left:
        raise RefusedError(_none_fits(asked.tuning, out))
    tuning = replace(
        asked.tuning, infeasible=tuple(out), piloted={stack.path: needs for stack, needs in measured.items()}
    )
    return replace(
        ready,
        # what it takes to know the limits is not the search's
        begun_s=ready.begun_s + time.monotonic() - begun,
        plan=replace(plan, stacks=left),
        race=replace(ready.race, stacks=tuple(stack.path for stack in left), tuning=tuning),
    )


def _load(plan: RacePlan, goal: TuningGoal) -> Load:
    highest = max(plan.loads, key=lambda load: load.concurrency)
    if goal.rate_per_s is None:
        return highest
    return replace(
        highest, concurrency=max(highest.concurrency, OPEN_CONNECTIONS), rate_per_s=goal.rate_per_s, poisson=True
    )


def _slice_s(plan: RacePlan, goal: TuningGoal) -> float:
    if goal.rate_per_s is None:
        needed = planned_lengths(plan).slice_s
    else:
        needed = TAIL_REQUESTS / goal.rate_per_s if goal.kind is GoalKind.LATENCY else 1.0
    return min(max(needed, LEAST_SLICE_S), MOST_SLICE_S)


def _refuse_uncounted(limits: TuningLimits, measured: Mapping[Stack, Needs]) -> None:
    if limits.connections is not None and all(needs.connections is None for needs in measured.values()):
        raise InputError("--connections: this system does not tell who holds which connection; leave the limit out")


def _none_fits(tuning: Tuning, out: Sequence[Infeasible]) -> str:
    """Say that no configuration is within the limits, which would be the nearest, and how far off it is."""
    limits = tuning.limits

    def excess(one: Infeasible) -> float:
        assert one.needs is not None
        memory = one.needs.memory_bytes / limits.memory_bytes if limits.memory_bytes else 0.0
        return max(memory, (one.needs.connections or 0) / limits.connections if limits.connections else 0.0)

    nearest = min(out, key=excess)
    assert nearest.needs is not None
    needs, beyond_by = nearest.needs, percent(excess(nearest) - 1)
    if nearest.kind is Unfit.MEMORY and limits.memory_bytes:
        flag, most = "--memory", SIZE.format(limits.memory_bytes)
        has, enough = SIZE.format(needs.memory_bytes), f"{_mebibytes(needs.memory_bytes)}MiB"
    else:
        flag, most = "--connections", f"{limits.connections} connections to databases"
        has, enough = f"{needs.connections} connections", f"{needs.connections}"
    known = "measured under load" if nearest.measured else "computed from two that were measured"
    return (
        f"no configuration of {tuning.stack} fits into {most}: {nearest.stack} needs the least, {has} ({known}), "
        f"{beyond_by} more; give {flag} {enough} or more"
    )


def _mebibytes(size: int) -> int:
    return -(-size // 2**20)
