"""A cluster before a race: each of its machines examined, and what is wrong with them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

from ... import __version__
from ...base.errors import StackraceError
from ..doctor.examination import Examination
from ..doctor.looking import examine_machine
from .connection import Connection
from .muster import Roster, faults, roster_of
from .network import USE_SERVICES, require_way
from .settings import Member

__all__ = ["ClusterExamination", "Examined", "examine_cluster"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One machine."""

    member: Member
    examination: Examination | None
    """None where it could not be examined; the cluster's faults say why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterExamination:
    """What was found."""

    faults: tuple[str, ...]
    """What is wrong with the machines together, each with the way out; no race starts before."""
    machines: tuple[Examined, ...]
    """By name."""

    @property
    def forbidden(self) -> bool:
        """Whether something must be done before a race may start."""
        return bool(self.faults) or any(
            machine.examination is not None and machine.examination.forbidden for machine in self.machines
        )


def examine_cluster(connection: Connection, concurrency: int, watch_s: float) -> ClusterExamination:
    """Examine all machines at once, for races at ``concurrency`` connections; it takes ``watch_s`` seconds.

    Afterwards all try whether they get through to those whom they need. Raises MemberLost without a scheduler.
    """
    members, absent = connection.roll_call()
    roster = roster_of(members)
    # another version may know nothing of what it would be asked
    alike = {member.name: member for member in members if member.version == __version__}
    examining = {
        name: connection.begin(member, _task(roster, member, concurrency, watch_s))
        for name, member in alike.items()
    }
    found, lost = {}, []
    for name, each in examining.items():
        try:
            found[name] = each.finish()
        except StackraceError as error:
            lost.append(error.message)
    return ClusterExamination(
        faults=(
            *(error.message for error in absent),
            *faults(roster, connection.address),
            *lost,
            *_cut_off(connection, roster, found),
        ),
        machines=tuple(Examined(member=member, examination=found.get(member.name)) for member in members),
    )


def _task(roster: Roster, member: Member, concurrency: int, watch_s: float) -> Callable[[], Examination]:
    """Return what examines ``member`` for its part in a race: engines share the connections of their host."""
    if member in roster.engines and roster.hosts:
        concurrency = math.ceil(concurrency / max(len(roster.engines) // len(roster.hosts), 1))
    apart = bool(roster.engines) or member not in roster.hosts
    return partial(examine_machine, concurrency, watch_s, apart=apart)


def _cut_off(connection: Connection, roster: Roster, examined: Collection[str]) -> Iterator[str]:
    """Yield which engines do not get through to their host, and which hosts do not to their services."""
    for host, service in zip(roster.hosts, roster.services, strict=False):
        if {host.name, service.name} <= {*examined}:
            try:
                require_way(connection, host, service, USE_SERVICES)
            except StackraceError as error:
                yield error.message
    for number, host in enumerate(roster.hosts):
        for engine in roster.engines_of(number):
            if {host.name, engine.name} <= {*examined}:
                try:
                    require_way(connection, engine, host)
                except StackraceError as error:
                    yield error.message
