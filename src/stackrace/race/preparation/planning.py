"""From what was asked for, and what was set up for it, to the plan of a race and the words it is kept under."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ... import __version__
from ...app.app import EntryKind
from ...app.bundle import is_bundled
from ...app.revision import Source, source_of
from ...base import ids
from ...base.errors import InputError, OwnerError
from ...measure.expectation import RightAnswers
from ...measure.load import Load
from ..request.request import RaceRequest
from ..results.parts import Parts
from ..results.race import Race, RacePlan
from .contestants import CurrentStack
from .cores import usable_cores
from .defaults import budget_s_of
from .deployment import Deployment

__all__ = ["plan_of", "race_of"]


def plan_of(request: RaceRequest, deployment: Deployment) -> RacePlan:
    """Return the plan; raises InputError for runs whose length is not known at some concurrency."""
    names = {workload.name for workload in deployment.workloads}
    return RacePlan(
        id=ids.generate(),
        app=deployment.examined.project,
        workloads=deployment.workloads,
        stacks=deployment.stacks,
        loads=tuple(_load(request, level) for level in deployment.levels),
        question=request.question,
        difference=request.difference,
        budget_s=budget_s_of(request),
        cores=deployment.cores,
        seed=random.SystemRandom().randrange(2**32) if request.seed is None else request.seed,
        slice_s=request.slice_s,
        limits={name: paths for name, paths in deployment.limits.items() if name in names},
        repeats=request.repeats,
        exhaustive=request.exhaustive,
        twin=request.twin,
        loading=deployment.examined.loading,
        start_cores=len(usable_cores()),
    )


def _load(request: RaceRequest, level: int) -> Load:
    load = Load(concurrency=level, keep_alive=request.keep_alive, timeout_s=request.timeout_s)
    if request.repeats is None:
        return load
    requests = request.run_requests_at.get(level, request.run_requests)
    if requests is None and request.run_s is None:
        raise InputError(
            f"how long is a run at {level} connections? Give --requests or --duration, or in a race file "
            f'[load] requests = {{ "{level}" = 500 }}'
        )
    return replace(load, requests=requests, duration_s=request.run_s if requests is None else None)


def race_of(
    plan: RacePlan, request: RaceRequest, notes: tuple[str, ...], current: CurrentStack | None = None
) -> Race:
    """Return the race as it is kept, before anything is launched."""
    from ...measure.probe import host_facts

    asked = {workload.name: _asked(request, workload.name) for workload in plan.workloads}
    source, refusal = (None, ()) if is_bundled(plan.app) else _source(request.folder)
    first = plan.workloads[0]
    return Race(
        id=plan.id,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        app=plan.app.name,
        entry="" if is_bundled(plan.app) or plan.app.entry.kind is EntryKind.FILES else plan.app.entry.target,
        urls=() if first.name else asked[""] or tuple(request.path for request in first.requests),
        stacks=tuple(stack.path for stack in plan.stacks),
        loads=plan.loads,
        question=plan.question,
        difference=plan.difference,
        budget_s=plan.budget_s or 0.0,
        cores=plan.cores,
        seed=plan.seed,
        host=host_facts(),
        notes=(*notes, *refusal),
        workloads=asked if first.name else {},
        repeats=plan.repeats,
        limits=plan.limits,
        exhaustive=plan.exhaustive,
        checks={name: check for name in asked if (check := _check(request, name))},
        source=source,
        current=current.stack.path if current is not None and current.stack is not None else "",
        parts=Parts() if current is None else Parts().having(current.part),
    )


def _source(folder: Path) -> tuple[Source | None, tuple[str, ...]]:
    """Return whose code ``folder`` holds, or none and why git refuses to say, with its way out."""
    try:
        return source_of(folder), ()
    except OwnerError as error:
        return None, (f"The race is kept without its commit: {error.message}.",)


def _asked(request: RaceRequest, name: str) -> tuple[str, ...]:
    """Return the URLs of a workload, or its recording's; nothing where the app itself decided.

    Without a name it is the only one, whatever the race file calls it.
    """
    for workload in request.workloads:
        if not name or workload.name == name:
            return _recording(workload.session) if workload.session is not None else workload.urls
    return _recording(request.session) if request.session is not None else ()


def _check(request: RaceRequest, name: str) -> RightAnswers:
    for workload in request.workloads:
        if not name or workload.name == name:
            return workload.check
    return request.check


def _recording(session: Path) -> tuple[str, ...]:
    return (session.absolute().as_uri(),)
