"""Who does what in a race on a cluster; what does not fit is named before anything starts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .. import __version__
from ..model.cluster import Member, Role
from ..model.errors import InputError
from ..model.numbers import milliseconds
from ..spec.request import RaceRequest

__all__ = ["WORST_CLOCK_S", "Roster", "muster"]

WORST_CLOCK_S = 0.05
"""Clocks that are known no better than this cannot tell whether engines began together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """The members that take part."""

    hosts: tuple[Member, ...]
    """They host stacks, one at least."""
    engines: tuple[Member, ...]
    """They send load; without any each host does for itself."""


def muster(members: Sequence[Member], request: RaceRequest) -> Roster:
    """Return who does what. Raises InputError, with the way out, for members that do not fit together."""
    roster = Roster(
        hosts=tuple(member for member in members if Role.STACK in member.roles),
        engines=tuple(member for member in members if Role.ENGINE in member.roles),
    )
    if not roster.hosts:
        raise InputError(
            f"--cluster {request.cluster}: nobody there hosts stacks; start a worker on a machine that may, with "
            f'`dask worker {request.cluster} --resources "stack=1"`'
        )
    _refuse_other_versions({*roster.hosts, *roster.engines})
    _refuse_other_pythons(roster.hosts)
    _refuse_neighbours(roster)
    for member in roster.engines:
        _refuse_unclear(member)
    if roster.engines and len(roster.engines) < len(roster.hosts):
        raise InputError(
            f"{len(roster.hosts)} machines host stacks, and only {len(roster.engines)} send load; each needs an "
            "engine of its own, as all are loaded at once: add engines, or leave hosts out"
        )
    if roster.engines and request.engine_cores is not None:
        raise InputError(
            "--engine-cores ([race] engine_cores): the engines are on machines of their own, which they have for "
            "themselves; leave it out"
        )
    return roster


def _refuse_other_versions(members: Collection[Member]) -> None:
    others = sorted((member.name, member.version) for member in members if member.version != __version__)
    if others:
        named = ", ".join(f"{name} has {version}" for name, version in others)
        raise InputError(
            f"stackrace is {__version__} here, but {named}; install {__version__} there, or leave them out"
        )


def _refuse_other_pythons(hosts: Sequence[Member]) -> None:
    """Servers' environments are built with the Python of the machine: another minor version is another stack."""
    minors = {member.name: ".".join(member.python.split(".")[:2]) for member in hosts}
    if len(set(minors.values())) > 1:
        named = ", ".join(f"{name} has {minor}" for name, minor in minors.items())
        raise InputError(f"the machines that host stacks differ in their Python: {named}; install one version")


def _refuse_neighbours(roster: Roster) -> None:
    """An engine beside a stack would take its cores; who means that starts no engine."""
    for host in roster.hosts:
        for engine in roster.engines:
            if host.shares_machine(engine):
                raise InputError(
                    f"{engine.name} is to send load, but shares machine and cores with {host.name}, which hosts "
                    "stacks; move one, give them cores of their own (`taskset -c 3 dask worker …`), or leave the "
                    "engine out: the host then sends the load itself, from a core of its own"
                )
        for other in roster.hosts:
            if other.name < host.name and host.shares_machine(other):
                raise InputError(
                    f"{other.name} and {host.name} host stacks, but share machine and cores; leave one out, or "
                    "give them cores of their own (`taskset -c 0,1 dask worker …`)"
                )


def _refuse_unclear(member: Member) -> None:
    if member.clock is None or member.clock.error_s > WORST_CLOCK_S:
        error = "unknown" if member.clock is None else f"known to {milliseconds(member.clock.error_s)} ms only"
        raise InputError(
            f"{member.name}'s clock cannot be compared with this machine's, being {error}: the way there takes too "
            "long; run from a machine that is nearer, in the same network"
        )
