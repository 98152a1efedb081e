"""Races on a Dask cluster, prepared on the machines that host stacks; and an examination of each machine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ... import __version__
from ...app.revision import source_of
from ...base.errors import InputError, StackraceError
from ...base.process import Background
from ...deploy.preparing import OnPreparing, Preparing, Step, ignore_step
from ...measure.workload import Answer, Sameness
from ...race.preparation.prepared import ClusterMachine, ExaminedMachines, PreparedRace
from ...race.request.request import RaceRequest
from ...race.run.lanes import OneLane
from .cluster_options import ClusterRequest
from .connection import Connection
from .hosting import Hosted
from .members import Member, Roles, assign_roles, conflicts, roles_of
from .network import require_way
from .project import Project, differences, project_of, remote_project_of, request_for_hosts
from .remote_engines import Engines
from .several_lanes import SeveralLanes
from .worker_machine import WorkerMachine, naming

_T = TypeVar("_T")


class DaskCluster:
    """A ``MachineProvider``: the workers of the cluster whose scheduler a `ClusterRequest` names."""

    @contextmanager
    def prepared(
        self, request: RaceRequest, on_preparing: OnPreparing = ignore_step, *, first: int | None = None
    ) -> Iterator[PreparedRace]:
        """Prepare the race of ``request`` on its cluster, and leave nothing behind there afterwards.

        Raises InputError and its subclasses, with the remedy, before anything is started: for an unreachable
        cluster, and for machines that do not fit together or have another project.
        """
        asked = request.parts.get(ClusterRequest)
        assert asked is not None and asked.cluster is not None
        with ExitStack() as stack:
            connection = stack.enter_context(Connection(asked.cluster))
            roles = assign_roles(connection.members(), request)
            for_hosts = request_for_hosts(request)
            if for_hosts.bundled is None:
                on_preparing(Preparing(step=Step.COMPARING, subject=str(request.folder)))
                _refuse_other_projects(connection, roles, request, for_hosts)
            hosts = {}
            for number, host in enumerate(roles.hosts):
                engines = Engines(connection, roles.engines_of(number)) if roles.engines else None
                hosts[host.name] = stack.enter_context(WorkerMachine(connection, host, engines))
            # measured one after the other, before anything else runs on the hosts
            network = tuple(path for machine in hosts.values() for path in machine.network())
            on_preparing(Preparing(step=Step.MACHINES, subject=", ".join(hosts)))
            opening = {name: Background(partial(machine.open, for_hosts, first)) for name, machine in hosts.items()}
            hosted = {name: each.finish() for name, each in opening.items()}
            _refuse_unlike(hosted)
            one = next(iter(hosted.values()))
            # the source is known here, by git; a bundled app has none
            race = one.plan.race
            source = race.source and source_of(request.folder)
            yield PreparedRace(
                request=request,
                plan=replace(one.plan, race=replace(race, network=network, source=source)),
                machine=hosts[roles.hosts[0].name],
                lanes=partial(SeveralLanes, hosts) if len(hosts) > 1 else OneLane,
                folder=None,
                warnings=one.warnings,
                begun_s=time.monotonic() - max(each.counted_s for each in hosted.values()),
            )

    def examined(self, address: str, concurrency: int, examine: Callable[[int, bool], _T]) -> ExaminedMachines[_T]:
        """Call ``examine`` on all machines of the cluster at ``address`` at once, for their roles in a race.

        Its arguments are the number of connections that a machine must hold, and True if stacks and engines are on
        different machines. Afterwards all engines try to reach their hosts. Raises MemberLost without a scheduler.
        """
        with Connection(address) as connection:
            return _examined(connection, concurrency, examine)


def _refuse_other_projects(
    connection: Connection, roles: Roles, request: RaceRequest, for_hosts: RaceRequest
) -> None:
    """Raise InputError, with the remedy, for every host that has another project than this machine."""
    asked = [connection.begin(host, remote_project_of, for_hosts) for host in roles.hosts]
    here = project_of(request)
    projects: dict[str, Project | None] = {}
    for host, each in zip(roles.hosts, asked, strict=True):
        with naming(host):
            projects[host.name] = each.finish()
    environment_of = "here"
    if not here.python:
        # the hosts' environments are compared with the first one's
        known = ((name, each) for name, each in projects.items() if each is not None and each.python)
        name, first = next(known, ("", here))
        environment_of = f"on {name}"
        here = replace(here, python=first.python, packages=first.packages)
    found = [
        words
        for name, project in projects.items()
        for words in differences(here, name, project, for_hosts.folder, environment_of)
    ]
    if found:
        raise InputError("\n".join(found))


def _refuse_unlike(hosted: Mapping[str, Hosted]) -> None:
    """Raise InputError if machines would not race the same: in stacks, right answers or cores."""
    name, one = next(iter(hosted.items()))
    for other, its in hosted.items():
        for what, of_one, of_other in (
            ("stacks", [stack.path for stack in one.plan.stacks], [stack.path for stack in its.plan.stacks]),
            ("right answers", _answers(one), _answers(its)),
            ("cores for stacks", len(one.plan.race.cores.stack_cores), len(its.plan.race.cores.stack_cores)),
        ):
            if of_one != of_other:
                raise InputError(
                    f"{name} and {other} differ in the {what}; make them alike, or take one out of the cluster"
                )


def _answers(hosted: Hosted) -> list[object]:
    """Return the comparable properties of each right answer: those that repeat."""
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
        case Sameness.SIZE | Sameness.STATUS:
            return None


def _examined(connection: Connection, concurrency: int, examine: Callable[[int, bool], _T]) -> ExaminedMachines[_T]:
    members, absent = connection.roll_call()
    roles = roles_of(members)
    # another version may not know the function
    alike = {member.name: member for member in members if member.version == __version__}
    examining = {
        name: connection.begin(member, examine, *_part(roles, member, concurrency))
        for name, member in alike.items()
    }
    found, lost = {}, []
    for name, each in examining.items():
        try:
            found[name] = each.finish()
        except StackraceError as error:
            lost.append(error.message)
    return ExaminedMachines(
        conflicts=(
            *(error.message for error in absent),
            *conflicts(roles, connection.address),
            *lost,
            *_cut_off(connection, roles, found),
        ),
        examined=tuple(
            (
                ClusterMachine(name=member.name, roles=tuple(sorted(member.roles)), host=member.host),
                found.get(member.name),
            )
            for member in members
        ),
    )


def _part(roles: Roles, member: Member, concurrency: int) -> tuple[int, bool]:
    """Return how many connections to examine ``member`` for (engines share them); True if it uses all cores."""
    if member in roles.engines and roles.hosts:
        concurrency = math.ceil(concurrency / max(len(roles.engines) // len(roles.hosts), 1))
    return concurrency, bool(roles.engines) or member not in roles.hosts


def _cut_off(connection: Connection, roles: Roles, examined: Collection[str]) -> Iterator[str]:
    """Yield the engines that cannot reach their host."""
    for number, host in enumerate(roles.hosts):
        for engine in roles.engines_of(number):
            if {host.name, engine.name} <= {*examined}:
                try:
                    require_way(connection, engine, host)
                except StackraceError as error:
                    yield error.message
