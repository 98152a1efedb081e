"""Preparation of a race that tunes a stack: shaped by its goal and limits, and reduced to fit its budget."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ...api.racing import ready_race
from ...base.errors import InputError, RefusedError
from ...deploy.local_machine import LocalMachine
from ...deploy.preparing import OnPreparing, ignore_step
from ...measure.load import Load
from ...race.pacing.overhead import USUAL_LAUNCH_S
from ...race.pacing.pace import planned_lengths
from ...race.plan import RacePlan
from ...race.preparation.prepared import PreparedRace
from .model import GoalKind, Knob, Tuning, TuningGoal, TuningLimits, Values
from .needs import beyond, measured_needs, pilots
from .search import AT_ONCE, largest_field, search_launches
from .tuning_request import LEAST_SLICE_S, MOST_SLICE_S, TuneRequest, candidates, fewest_of, tail_slice_s
from .words import none_within

if TYPE_CHECKING:
    from ...store.store import Store


@contextmanager
def ready_tuning(
    asked: TuneRequest, store: Store | None, on_preparing: OnPreparing = ignore_step
) -> Iterator[PreparedRace]:
    """Prepare the race of the configurations of ``asked``; nothing is left running afterwards.

    If there are limits, two configurations are launched and loaded first, to compute the needs of all. Raises the
    errors of `ready_race`, and RefusedError if no configuration is within the limits.
    """
    request, tuning = candidates(asked)
    adapt = partial(_adapted, tuning=tuning, on_preparing=on_preparing)
    with ready_race(request, store, on_preparing, adapt=adapt, first=fewest_of(tuning)) as ready:
        yield ready


TOGETHER = 8
"""The most configurations that run at the same time: each may use up all connections of a database."""

_OPEN_CONNECTIONS = 256

_RATE_SLICE_S = 1.0
"""Length of slices that only check whether the rate is delivered."""


def under_goal(fresh: PreparedRace, tuning: Tuning) -> PreparedRace:
    """Return ``fresh`` under the load of the goal: one level, and slices of the length its response needs.

    Raises InputError if these slices would be too long, or if ``--slice`` is too short for the goal.
    """
    race = fresh.plan.race
    race = replace(race, loads=(_load(race.loads, tuning.goal),), parts=race.parts.having(tuning))
    plan = replace(fresh.plan, race=race, together=TOGETHER, twin=False)
    _local(fresh).watches_needs = True
    return replace(fresh, plan=replace(plan, slice_s=_slice_s(plan, tuning.goal)))


def _load(loads: Sequence[Load], goal: TuningGoal) -> Load:
    highest = max(loads, key=lambda load: load.concurrency)
    if goal.rate_per_s is None:
        return highest
    return replace(
        highest, concurrency=max(highest.concurrency, _OPEN_CONNECTIONS), rate_per_s=goal.rate_per_s, poisson=True
    )


def _slice_s(plan: RacePlan, goal: TuningGoal) -> float:
    if goal.kind is GoalKind.LATENCY:
        return tail_slice_s(goal, plan.slice_s)
    if plan.slice_s:
        return plan.slice_s
    needed = planned_lengths(plan).slice_s if goal.rate_per_s is None else _RATE_SLICE_S
    return min(max(needed, LEAST_SLICE_S), MOST_SLICE_S)


def _local(fresh: PreparedRace) -> LocalMachine:
    if not isinstance(fresh.machine, LocalMachine):
        raise InputError("--cluster ([race] cluster): tuning is done on this machine; leave it out")
    return fresh.machine


def _adapted(fresh: PreparedRace, tuning: Tuning, on_preparing: OnPreparing) -> PreparedRace:
    """Return the race of the configurations of ``fresh`` within the limits, computed from two measured ones.

    If time is short, some are left out. Raises RefusedError if no configuration is within the limits; the message
    names the nearest configuration and its excess.
    """
    ready, limits = under_goal(fresh, tuning), tuning.limits
    if limits == TuningLimits():
        return _cut_to_budget(ready, tuning)
    machine, plan, begun = _local(ready), ready.plan, time.monotonic()
    measured = {
        stack: measured_needs(machine, stack, plan.workloads[0], plan.race.loads[0], on_preparing)
        for stack in pilots(plan.stacks)
    }
    if limits.connections is not None and all(needs.connections is None for needs in measured.values()):
        raise InputError("--connections: this system does not tell who holds which connection; leave the limit out")
    out = [one for stack in plan.stacks if (one := beyond(stack, limits, measured)) is not None]
    tuning = replace(
        tuning, infeasible=tuple(out), piloted={stack.path: needs for stack, needs in measured.items()}
    )
    # measuring needs does not count against the search's budget
    ready = replace(ready, begun_s=ready.begun_s + time.monotonic() - begun)
    within = _having(ready, tuning, {stack.path for stack in plan.stacks} - {one.stack for one in out})
    if not within.plan.stacks:
        raise RefusedError(none_within(tuning.stack, limits, out))
    return _cut_to_budget(within, tuning)


def _having(ready: PreparedRace, tuning: Tuning, paths: Collection[str]) -> PreparedRace:
    plan = ready.plan.among(tuple(stack for stack in ready.plan.stacks if stack.path in paths))
    return replace(ready, plan=plan).having(replace(plan.race, parts=plan.race.parts.having(tuning)))


_AROUND_S = 1.5
"""Seconds of a launch without its start and its slice: warming up, becoming idle, its share of stopping."""


def _cut_to_budget(ready: PreparedRace, tuning: Tuning) -> PreparedRace:
    """Return ``ready`` with as many configurations of ``tuning`` as its budget can distinguish.

    More than ``AT_ONCE`` never race. The references stay. Numbers are removed from the middle, so that the ranges
    stay the same.
    """
    plan = ready.plan
    assert plan.budget_s is not None
    each_s = max(plan.loading.wall_s, USUAL_LAUNCH_S) + _AROUND_S + (plan.slice_s or 0.0)
    launches = (plan.budget_s - (time.monotonic() - ready.begun_s)) / each_s
    paths = [stack.path for stack in plan.stacks]
    field = [path for path in paths if path in tuning.settings and path not in tuning.reserve]
    references = len({*tuning.references.values()} & {*paths})
    most = min(len(field), AT_ONCE)
    fitting = largest_field(launches, references, most)
    if fitting == len(field):
        return ready
    knobs, kept = thinned(tuning, field, fitting)
    ladders = [knob.ladder for knob in knobs]
    reserve = tuple(path for path in tuning.reserve if _within(ladders, tuning.settings[path]))
    stays = {*kept, *tuning.references.values(), *reserve}
    cut = replace(
        tuning,
        knobs=knobs,
        settings={path: values for path, values in tuning.settings.items() if path in stays},
        reserve=reserve,
        cut=len(field) - sum(path in stays for path in field),
        whole_s=search_launches(most, references) * each_s if fitting < most else None,
    )
    return _having(ready, cut, stays)


def thinned(tuning: Tuning, field: Sequence[str], most: int) -> tuple[tuple[Knob, ...], tuple[str, ...]]:
    """Return the knobs with fewer values, and the remaining configurations of the ``field``, ``most`` if possible.

    The setting with the most numbers loses the number whose neighbours are nearest, again and again. The first and
    the last number stay, and so do values that are not numbers. If there are still too many configurations, they
    are thinned evenly. References stay.
    """
    knobs, kept, named = tuning.knobs, [*field], {*tuning.references.values()}
    while len(kept) > most:
        long = max(range(len(knobs)), key=lambda d: len(knobs[d].values) if knobs[d].numeric else 0)
        if not knobs[long].numeric or len(knobs[long].values) <= 2:
            others = [path for path in kept if path not in named]
            wanted = min(max(most - (len(kept) - len(others)), 1), len(others))
            spread = {others[i * (len(others) - 1) // max(wanted - 1, 1)] for i in range(wanted)}
            return knobs, tuple(path for path in kept if path in spread or path in named)
        knobs = (*knobs[:long], _without_one(knobs[long]), *knobs[long + 1 :])
        known = [knob.values for knob in knobs]
        kept = [path for path in kept if path in named or _within(known, tuning.settings[path])]
    return knobs, tuple(kept)


def _within(known: Sequence[Sequence[str]], values: Values) -> bool:
    """Return True if all ``values`` with an effect are among the ``known`` values of their knobs."""
    return all(value is None or value in some for value, some in zip(values, known, strict=True))


def _without_one(knob: Knob) -> Knob:
    steps = [math.log(int(value) or 1) for value in knob.values]
    least = min(range(1, len(steps) - 1), key=lambda i: steps[i + 1] - steps[i - 1])
    return replace(knob, values=(*knob.values[:least], *knob.values[least + 1 :]))
