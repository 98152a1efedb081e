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
from ...measure.load import Load
from ...measure.workload import RightAnswers
from ..plan import RacePlan
from ..request.request import RaceRequest
from ..results.parts import Parts
from ..results.race import Race
from .choosing import unserved
from .cores import usable_cores
from .defaults import budget_s_of
from .deployment import Deployment

__all__ = ["plan_of"]


def plan_of(request: RaceRequest, deployment: Deployment) -> RacePlan:
    """Return what will be done, and the race as it is kept before anything is launched.

    Raises InputError for runs whose length is not known at some concurrency.
    """
    from ...measure.probe import host_facts

    app, current = deployment.examined.project, deployment.current
    asked = {workload.name: _asked(request, workload.name) for workload in deployment.workloads}
    source, refusal = (None, ()) if is_bundled(app) else _source(request.folder)
    first = deployment.workloads[0]
    race = Race(
        id=ids.generate(),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        app=app.name,
        entry="" if is_bundled(app) or app.entry.kind is EntryKind.FILES else app.entry.target,
        urls=() if first.name else asked[""] or tuple(request.path for request in first.requests),
        stacks=tuple(stack.path for stack in deployment.stacks),
        loads=tuple(_load(request, level) for level in deployment.levels),
        question=request.question,
        difference=request.difference,
        budget_s=budget_s_of(request) or 0.0,
        cores=deployment.cores,
        seed=random.SystemRandom().randrange(2**32) if request.seed is None else request.seed,
        host=host_facts(),
        notes=(*deployment.notes, *refusal),
        left_out=deployment.unready,
        workloads=asked if first.name else {},
        repeats=request.repeats,
        limits={name: paths for name, paths in deployment.limits.items() if name in asked},
        exhaustive=request.exhaustive,
        checks={name: check for name in asked if (check := _check(request, name))},
        source=source,
        current=current.stack.path if current is not None and current.stack is not None else "",
        parts=Parts() if current is None else Parts().having(current.part),
        unserved=unserved(deployment.stacks, deployment.examined),
    )
    return RacePlan(
        race=race,
        app=app,
        workloads=deployment.workloads,
        stacks=deployment.stacks,
        slice_s=request.slice_s,
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
