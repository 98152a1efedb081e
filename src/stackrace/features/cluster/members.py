"""The machines of a cluster: what each is, and who does what in a race.

What does not fit together is named before anything starts.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ... import __version__
from ...base.errors import InputError
from ...base.numbers import milliseconds
from ...race.request.request import RaceRequest
from .clocks import ClockOffset
from .request import ClusterRequest

_MACHINE = "STACKRACE_MACHINE"
"""Names the machine where several stand on one kernel, as network namespaces do that stand for machines."""

_WORST_CLOCK_S = 0.05
"""Clocks that are known no better than this cannot tell whether engines began together."""


class Role(StrEnum):
    """What a member offers; it says so by a Dask resource of the same name."""

    STACK = "stack"
    """It hosts a stack, with what that needs."""
    ENGINE = "engine"
    """It sends load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A machine of the cluster, as it describes itself."""

    name: str
    """The worker's name, unique in the cluster."""
    contact: str
    """Where its worker is reached: ``tcp://10.0.0.3:34781``."""
    host: str
    """Its network address."""
    roles: frozenset[Role]
    version: str
    """Of stackrace."""
    python: str
    kernel: str
    cpu: str
    """CPU model."""
    cores: tuple[int, ...]
    """Those that it may use, by number."""
    memory_bytes: int
    machine: str
    """The same for all workers that share a kernel."""
    clock: ClockOffset | None = None
    """None where nobody compared it yet."""

    def shares_machine(self, other: Member) -> bool:
        """Tell whether both are on one machine, whatever their addresses: one kernel, and a core in common."""
        return self.machine == other.machine and bool(set(self.cores) & set(other.cores))


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The members that take part."""

    hosts: tuple[Member, ...]
    """They host stacks, one at least."""
    engines: tuple[Member, ...]
    """They send load; without any each host does for itself."""

    def engines_of(self, number: int) -> tuple[Member, ...]:
        """Return the engines of the host of that number: each host has its own, as all are loaded at once."""
        return self.engines[number :: len(self.hosts)]


def roles_of(members: Sequence[Member]) -> Roles:
    """Return who does what, whether or not they fit together."""
    return Roles(
        hosts=tuple(member for member in members if Role.STACK in member.roles),
        engines=tuple(member for member in members if Role.ENGINE in member.roles),
    )


def assign_roles(members: Sequence[Member], request: RaceRequest) -> Roles:
    """Return who does what. Raises InputError, with the way out, for members that do not fit together."""
    roles, asked = roles_of(members), request.parts.get(ClusterRequest)
    for conflict in conflicts(roles, (asked and asked.cluster) or "SCHEDULER"):
        raise InputError(conflict)
    if roles.engines and request.engine_cores is not None:
        raise InputError(
            "--engine-cores ([race] engine_cores): the engines are on machines of their own, which they have for "
            "themselves; leave it out"
        )
    return roles


def conflicts(roles: Roles, address: str) -> Iterator[str]:
    """Yield why no race can be had on the cluster at ``address``, each reason with the way out."""
    if not roles.hosts:
        yield (
            f"--cluster {address}: nobody there hosts stacks; start a worker on a machine that may, with "
            f'`dask worker {address} --resources "stack=1"`'
        )
    yield from _other_versions({*roles.hosts, *roles.engines})
    yield from _other_pythons(roles.hosts)
    yield from _sharing_cores(roles)
    for member in roles.engines:
        yield from _unknown_clock(member)
    if roles.engines and len(roles.engines) < len(roles.hosts):
        yield (
            f"{len(roles.hosts)} machines host stacks, and only {len(roles.engines)} send load; each needs an "
            "engine of its own, as all are loaded at once: add engines, or leave hosts out"
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


def _sharing_cores(roles: Roles) -> Iterator[str]:
    """Yield who would share cores with a stack: an engine there, or another host."""
    for host in roles.hosts:
        for engine in roles.engines:
            if host.shares_machine(engine):
                yield (
                    f"{engine.name} is to send load, but shares machine and cores with {host.name}, which hosts "
                    "stacks; move one, give them cores of their own (`taskset -c 3 dask worker …`), or leave the "
                    "engine out: the host then sends the load itself, from a core of its own"
                )
        for other in roles.hosts:
            if other.name < host.name and host.shares_machine(other):
                yield (
                    f"{other.name} and {host.name} host stacks, but share machine and cores; leave one out, or "
                    "give them cores of their own (`taskset -c 0,1 dask worker …`)"
                )


def _unknown_clock(member: Member) -> Iterator[str]:
    if member.clock is None or member.clock.error_s > _WORST_CLOCK_S:
        error = "unknown" if member.clock is None else f"known to {milliseconds(member.clock.error_s)} ms only"
        yield (
            f"{member.name}'s clock cannot be compared with this machine's, being {error}: the way there takes too "
            "long; run from a machine that is nearer, in the same network"
        )


def introduce() -> dict[str, Any]:
    """Return what this machine says of itself as a member: the fields of ``Member`` that only it knows."""
    from ...measure.probe import host_facts

    facts = host_facts()
    return {
        "version": __version__,
        "python": platform.python_version(),
        "kernel": facts.kernel,
        "cpu": facts.cpu,
        "cores": tuple(sorted(os.sched_getaffinity(0))),
        "memory_bytes": facts.memory_bytes,
        "machine": os.environ.get(_MACHINE) or _boot_id(),
    }


def _boot_id() -> str:
    """Return what only processes below the same kernel see. Source: random(4), boot_id."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
