"""A race on a cluster, prepared on the machines that will host its stacks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from ...app.revision import source_of
from ...base.errors import AppError, InputError
from ...base.process import Background
from ...deploy.place import Fleet
from ...deploy.preparing import OnPreparing, Preparing, Step, unheard
from ...measure.workload import Answer, Sameness
from ...race.preparation.needs import services_of
from ...race.preparation.prepared import PreparedRace
from ...race.request.request import RaceRequest
from .connection import Connection
from .engines import Engines
from .hosting import Hosted
from .muster import muster
from .over_ssh import started
from .place import WorkerPlace
from .service_host import ServiceHost
from .shipping.packing import MOST_NAMED, Packed, packed
from .shipping.sending import ship

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
        names = services_of(request)
        places = {}
        for number, host in enumerate(roster.hosts):
            engines = Engines(connection, roster.engines_of(number)) if roster.engines else None
            services = None
            if roster.services:
                services = stack.enter_context(ServiceHost(connection, roster.services[number], names))
            places[host.name] = stack.enter_context(WorkerPlace(connection, host, engines, services))
        # one after the other, and before anything works there
        network = tuple(path for place in places.values() for path in place.network())
        if request.bundled is None:
            on_preparing(Preparing(step=Step.PACKING, subject=str(request.folder)))
        with packed(request) as needs:
            sent = {} if needs is None else ship(connection, roster.hosts, needs, on_preparing)
        asked = request if needs is None else needs.request
        on_preparing(Preparing(step=Step.MACHINES, subject=", ".join(places)))
        opening = {
            name: Background(partial(place.open, asked, first, needs.shipment if needs and sent[name] else None))
            for name, place in places.items()
        }
        hosted = {name: _opened(each, needs if sent.get(name) else None) for name, each in opening.items()}
        _refuse_unlike(hosted)
        one = next(iter(hosted.values()))
        # git's word is here; a bundled app has none
        source = one.race.source and source_of(request.folder)
        yield PreparedRace(
            request=request,
            plan=one.plan,
            race=replace(one.race, network=network, source=source),
            place=Fleet(machines=places) if len(places) > 1 else places[roster.hosts[0].name],
            folder=None,
            left_out=one.left_out,
            limit=one.limit,
            warnings=one.warnings,
            begun_s=time.monotonic() - max(each.counted_s for each in hosted.values()),
        )


def _opened(opening: Background[Hosted], needs: Packed | None) -> Hosted:
    """Return what was prepared; an app that fails there may lack what git ignores, and so was not sent."""
    try:
        return opening.finish()
    except AppError as error:
        if needs is not None and needs.ignored:
            more = len(needs.ignored) - MOST_NAMED
            named = ", ".join(needs.ignored[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
            error.message += (
                f"; git ignores {named}, which the hosts did not get: what the app needs of it, name in the race "
                "file, as [app] env_file, static or protect"
            )
        raise


def _refuse_unlike(hosted: Mapping[str, Hosted]) -> None:
    """Raise InputError where machines would not race the same: in stacks, right answers or cores."""
    name, one = next(iter(hosted.items()))
    for other, its in hosted.items():
        for what, of_one, of_other in (
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
        (workload.name, request.method, request.path, answer.status, _repeats(answer, hosted.place))
        for workload in hosted.plan.workloads
        for request, answer in zip(workload.requests, workload.answers, strict=False)
    ]


def _repeats(answer: Answer, place: str) -> object:
    match answer.sameness:
        case Sameness.BODY:
            # an app may show where it lies
            return answer.body.replace(place.encode(), b"") if place else answer.body
        case Sameness.PARTS:
            return answer.parts
        case Sameness.LENGTH:
            return len(answer.body)
        case Sameness.STATUS:
            return None
