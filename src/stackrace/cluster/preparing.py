"""A race on a cluster, prepared on the machines that will host its stacks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from ..deploy.place import Fleet
from ..model.errors import InputError
from ..model.preparing import OnPreparing, Preparing, Step, unheard
from ..model.workload import Answer, Sameness
from ..process import Background
from ..setup.prepared import PreparedRace
from ..spec.request import RaceRequest
from .connection import Connection
from .engines import Engines
from .hosting import Hosted, sources_of
from .muster import muster
from .over_ssh import started
from .place import WorkerPlace

__all__ = ["prepared_on_cluster"]


@contextmanager
def prepared_on_cluster(
    request: RaceRequest, on_preparing: OnPreparing = unheard, *, first: int | None = None
) -> Iterator[PreparedRace]:
    """Prepare the race that ``request`` asks for on its cluster, and leave nothing behind there afterwards.

    Raises InputError and its kin, with the way out, before anything is started: for a cluster that is not there,
    and for machines that do not fit together.
    """
    with ExitStack() as stack:
        address = request.cluster or stack.enter_context(started(request.hosts, request.engine_hosts))
        connection = stack.enter_context(Connection(address))
        roster = muster(connection.members(), request)
        many = len(roster.hosts)
        places = {}
        for number, host in enumerate(roster.hosts):
            engines = Engines(connection, roster.engines_of(number)) if roster.engines else None
            places[host.name] = stack.enter_context(WorkerPlace(connection, host, engines))
        on_preparing(Preparing(step=Step.MACHINES, subject=", ".join(places)))
        # one after the other, and before anything works there
        network = tuple(path for place in places.values() for path in place.network())
        opening = {name: Background(partial(place.open, request, first)) for name, place in places.items()}
        hosted = {name: each.finish() for name, each in opening.items()}
        _refuse_unlike(hosted)
        one = next(iter(hosted.values()))
        yield PreparedRace(
            request=request,
            plan=one.plan,
            race=replace(one.race, network=network),
            place=Fleet(machines=places) if many > 1 else places[roster.hosts[0].name],
            folder=None,
            left_out=one.left_out,
            warnings=one.warnings,
            begun_s=time.monotonic() - max(each.counted_s for each in hosted.values()),
        )


def _refuse_unlike(hosted: Mapping[str, Hosted]) -> None:
    """Raise InputError where machines would not race the same: in code, stacks, right answers or cores."""
    name, one = next(iter(hosted.items()))
    ours = sources_of(one.plan.app)
    if one.sources != ours:
        raise InputError(
            f"{name} has other files than this machine in {one.plan.app.root}; share the project's folder between "
            "the machines, or copy it to each under the same path"
        )
    for other, its in hosted.items():
        for what, of_one, of_other in (
            ("code of the project", one.sources, its.sources),
            ("stacks", [stack.path for stack in one.plan.stacks], [stack.path for stack in its.plan.stacks]),
            ("right answers", _answers(one), _answers(its)),
            ("cores for stacks", len(one.plan.cores.stack_cores), len(its.plan.cores.stack_cores)),
        ):
            if of_one != of_other:
                raise InputError(
                    f"{name} and {other} differ in the {what}; make them alike, or take one out of the cluster"
                )


def _answers(hosted: Hosted) -> list[object]:
    """Return what is compared of each right answer: what of it repeats."""
    return [
        (workload.name, request.method, request.path, answer.status, _repeats(answer))
        for workload in hosted.plan.workloads
        for request, answer in zip(workload.requests, workload.answers, strict=False)
    ]


def _repeats(answer: Answer) -> object:
    match answer.sameness:
        case Sameness.BODY:
            return answer.body
        case Sameness.PARTS:
            return answer.parts
        case Sameness.LENGTH:
            return len(answer.body)
        case Sameness.STATUS:
            return None
