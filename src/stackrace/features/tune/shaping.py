"""A prepared race of all configurations becomes one of those within the limits, under the goal's load."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from ...base.errors import InputError, RefusedError
from ...deploy.local_place import LocalPlace
from ...deploy.preparing import OnPreparing
from ...measure.load import Load
from ...race.pace import planned_lengths
from ...race.preparation.prepared import PreparedRace
from ...race.results.race import RacePlan
from ...stacks.stack import Stack
from .candidates import Candidates
from .cutting import cut_to_budget
from .model import GoalKind, Needs, Tuning, TuningGoal, TuningLimits
from .nearest import none_within
from .rate import beyond, measured_needs, model_of, pilots
from .tail import LEAST_SLICE_S, MOST_SLICE_S, tail_slice_s

__all__ = ["TOGETHER", "shaped", "under_goal"]

TOGETHER = 8
"""So many configurations are up at once: each may hold as many connections to a database as there may be."""

OPEN_CONNECTIONS = 256
"""Connections of the open loop at most."""

RATE_SLICE_S = 1.0
"""Where the rate is only to be kept up with."""


def under_goal(fresh: PreparedRace, tuning: Tuning) -> PreparedRace:
    """Return ``fresh`` under the load of the goal: one level, slices that its response needs.

    Raises InputError where those would be too long, or where ``--slice`` is too short for them.
    """
    plan = fresh.plan
    load = _load(plan, tuning.goal)
    plan = replace(plan, loads=(load,), together=TOGETHER, twin=False)
    plan = replace(plan, slice_s=_slice_s(plan, tuning.goal))
    _local(fresh).watches_needs = True
    return replace(fresh, plan=plan, race=replace(fresh.race, loads=(load,), parts=fresh.race.parts.having(tuning)))


def shaped(fresh: PreparedRace, asked: Candidates, on_preparing: OnPreparing) -> PreparedRace:
    """Return the race of those configurations of ``fresh`` that are within the limits, as two measured ones tell.

    Where there is no time for all of them, some are left out.

    Raises RefusedError where none is, naming the one that needs the least and by how much it is beyond.
    """
    ready = under_goal(fresh, asked.tuning)
    limits = asked.tuning.limits
    if limits == TuningLimits():
        return cut_to_budget(ready, asked.tuning)
    place, plan = _local(ready), ready.plan
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
        raise RefusedError(none_within(asked.tuning.stack, limits, out))
    tuning = replace(
        asked.tuning, infeasible=tuple(out), piloted={stack.path: needs for stack, needs in measured.items()}
    )
    within = replace(
        ready,
        # what it takes to know the limits is not the search's
        begun_s=ready.begun_s + time.monotonic() - begun,
        plan=replace(plan, stacks=left),
        race=replace(ready.race, stacks=tuple(stack.path for stack in left), parts=ready.race.parts.having(tuning)),
    )
    return cut_to_budget(within, tuning)


def _local(fresh: PreparedRace) -> LocalPlace:
    """Return this machine; raises InputError where the race would be on others."""
    if not isinstance(fresh.place, LocalPlace):
        raise InputError("--cluster ([race] cluster): tuning is done on this machine; leave it out")
    return fresh.place


def _load(plan: RacePlan, goal: TuningGoal) -> Load:
    highest = max(plan.loads, key=lambda load: load.concurrency)
    if goal.rate_per_s is None:
        return highest
    return replace(
        highest, concurrency=max(highest.concurrency, OPEN_CONNECTIONS), rate_per_s=goal.rate_per_s, poisson=True
    )


def _slice_s(plan: RacePlan, goal: TuningGoal) -> float:
    if goal.kind is GoalKind.LATENCY:
        return tail_slice_s(goal, plan.slice_s)
    if plan.slice_s:
        return plan.slice_s
    needed = planned_lengths(plan).slice_s if goal.rate_per_s is None else RATE_SLICE_S
    return min(max(needed, LEAST_SLICE_S), MOST_SLICE_S)


def _refuse_uncounted(limits: TuningLimits, measured: Mapping[Stack, Needs]) -> None:
    if limits.connections is not None and all(needs.connections is None for needs in measured.values()):
        raise InputError("--connections: this system does not tell who holds which connection; leave the limit out")
