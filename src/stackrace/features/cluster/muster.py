"""Who does what in a race on a cluster; what does not fit is named before anything starts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from ... import __version__
from ...base.errors import InputError
from ...base.numbers import milliseconds
from ...race.preparation.needs import services_of
from ...race.request.request import RaceRequest
from .settings import Member, Role

__all__ = ["WORST_CLOCK_S", "Roster", "faults", "muster", "roster_of"]

WORST_CLOCK_S = 0.05
"""Clocks that are known no better than this cannot tell whether engines began together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """The members that take part."""

    hosts: tuple[Member, ...]
    """They host stacks, one at least."""
    engines: tuple[Member, ...]
    """They send load; without any each host does for itself."""
    services: tuple[Member, ...] = ()
    """They run the app's services, one for each host; without any each host does for itself."""

    def engines_of(self, number: int) -> tuple[Member, ...]:
        """Return the engines of the host of that number: each host has its own, as all are loaded at once."""
        return self.engines[number :: len(self.hosts)]


def roster_of(members: Sequence[Member]) -> Roster:
    """Return who does what, whether or not they fit together."""
    return Roster(
        hosts=tuple(member for member in members if Role.STACK in member.roles),
        engines=tuple(member for member in members if Role.ENGINE in member.roles),
        services=tuple(member for member in members if Role.SERVICE in member.roles),
    )


def muster(members: Sequence[Member], request: RaceRequest) -> Roster:
    """Return who does what. Raises InputError, with the way out, for members that do not fit together."""
    roster = roster_of(members)
    if not services_of(request):
        roster = replace(roster, services=())
    for fault in faults(roster, request.cluster or "SCHEDULER"):
        raise InputError(fault)
    if roster.engines and request.engine_cores is not None:
        raise InputError(
            "--engine-cores ([race] engine_cores): the engines are on machines of their own, which they have for "
            "themselves; leave it out"
        )
    return roster


def faults(roster: Roster, address: str) -> Iterator[str]:
    """Yield why no race can be had on the cluster at ``address``, each fault with the way out."""
    if not roster.hosts:
        yield (
            f"--cluster {address}: nobody there hosts stacks; start a worker on a machine that may, with "
            f'`dask worker {address} --resources "stack=1"`'
        )
    yield from _other_versions({*roster.hosts, *roster.engines, *roster.services})
    yield from _other_pythons(roster.hosts)
    yield from _neighbours(roster)
    for member in (*roster.engines, *roster.services):
        yield from _unclear(member)
    if roster.engines and len(roster.engines) < len(roster.hosts):
        yield (
            f"{len(roster.hosts)} machines host stacks, and only {len(roster.engines)} send load; each needs an "
            "engine of its own, as all are loaded at once: add engines, or leave hosts out"
        )
    if roster.services and len(roster.services) < len(roster.hosts):
        yield (
            f"{len(roster.hosts)} machines host stacks, and only {len(roster.services)} run services; each needs "
            "one of its own, as all are loaded at once: add machines for services, or leave hosts out"
        )


def _other_versions(members: Collection[Member]) -> Iterator[str]:
    others = sorted((member.name, member.version) for member in members if member.version != __version__)
    if others:
        named = ", ".join(f"{name} has {version}" for name, version in others)
        yield f"stackrace is {__version__} here, but {named}; install {__version__} there, or leave them out"


def _other_pythons(hosts: Sequence[Member]) -> Iterator[str]:
    """Servers' environments are built with the Python of the machine: another minor version is another stack."""
    minors = {member.name: ".".join(member.python.split(".")[:2]) for member in hosts}
    if len(set(minors.values())) > 1:
        named = ", ".join(f"{name} has {minor}" for name, minor in minors.items())
        yield f"the machines that host stacks differ in their Python: {named}; install one version"


def _neighbours(roster: Roster) -> Iterator[str]:
    """Engines and services beside a stack would take its cores; who means that starts none of them."""
    for host in roster.hosts:
        for engine in roster.engines:
            if host.shares_machine(engine):
                yield (
                    f"{engine.name} is to send load, but shares machine and cores with {host.name}, which hosts "
                    "stacks; move one, give them cores of their own (`taskset -c 3 dask worker …`), or leave the "
                    "engine out: the host then sends the load itself, from a core of its own"
                )
        for service in roster.services:
            if host.shares_machine(service):
                yield (
                    f"{service.name} is to run services, but shares machine and cores with {host.name}, which "
                    "hosts stacks; move one, give them cores of their own (`taskset -c 3 dask worker …`), or leave "
                    "the resource out: services then run beside the stacks"
                )
        for other in roster.hosts:
            if other.name < host.name and host.shares_machine(other):
                yield (
                    f"{other.name} and {host.name} host stacks, but share machine and cores; leave one out, or "
                    "give them cores of their own (`taskset -c 0,1 dask worker …`)"
                )
    for engine in roster.engines:
        for service in roster.services:
            if engine.shares_machine(service):
                yield (
                    f"{engine.name} is to send load, but shares machine and cores with {service.name}, which runs "
                    "services; move one, or give them cores of their own (`taskset -c 3 dask worker …`)"
                )


def _unclear(member: Member) -> Iterator[str]:
    if member.clock is None or member.clock.error_s > WORST_CLOCK_S:
        error = "unknown" if member.clock is None else f"known to {milliseconds(member.clock.error_s)} ms only"
        yield (
            f"{member.name}'s clock cannot be compared with this machine's, being {error}: the way there takes too "
            "long; run from a machine that is nearer, in the same network"
        )
