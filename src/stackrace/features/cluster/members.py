"""The machines of a cluster: their properties, the offsets of their clocks, and their roles in a race.

Machines that do not fit together are reported before anything starts.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Any

from ... import __version__
from ...base.errors import InputError
from ...base.numbers import milliseconds
from ...race.request.request import RaceRequest
from .cluster_options import ClusterRequest

EXCHANGES = 8
"""Number of times to ask a clock. The shortest of so many exchanges seldom had to wait."""
_ENOUGH_S = 0.001
"""Seconds by which an exchange may exceed the shortest to be good enough; its error grows by half of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """Offset of a member's CLOCK_MONOTONIC from the coordinator's."""

    offset_s: float
    """The member's clock minus ours, in seconds."""
    error_s: float
    """Largest error of the offset, in seconds: half of the shortest round trip."""
    round_trip_s: float
    """Shortest round trip to the member and back, in seconds, including Dask's own work."""
    taken_s: float
    """Time of the estimate, on our own clock."""

    def to_remote(self, local_s: float) -> float:
        """Return the time on the member's clock when ours shows ``local_s``."""
        return local_s + self.offset_s


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request for the time, all in seconds of CLOCK_MONOTONIC."""

    asked_s: float
    """Time of the request, on our clock."""
    remote_s: float
    """Answer: the time on the other clock."""
    answered_s: float
    """Arrival of the answer, on our clock."""


def estimate(exchanges: Iterable[Exchange]) -> ClockOffset:
    """Return the offset by the shortest of ``exchanges``; at least one is required.

    The other clock was read somewhere between request and answer. The middle is wrong by half of the
    round trip at most, however uneven both ways are, so the shortest exchange bounds the error best.

    Source: Cristian, Probabilistic clock synchronization, 1989; RFC 5905 section 8.
    """
    best = min(exchanges, key=lambda exchange: exchange.answered_s - exchange.asked_s)
    round_trip_s = best.answered_s - best.asked_s
    return ClockOffset(
        offset_s=best.remote_s - (best.asked_s + best.answered_s) / 2,
        error_s=round_trip_s / 2,
        round_trip_s=round_trip_s,
        taken_s=best.answered_s,
    )


def compare(ask: Callable[[], float], shortest_s: float = 0.0) -> ClockOffset:
    """Return the offset between ours and the clock that ``ask`` reads, in seconds.

    The clock is read ``EXCHANGES`` times, or until a round trip is about as short as ``shortest_s``, the shortest
    known.
    """
    exchanges = [_exchange(ask)]
    while len(exchanges) < EXCHANGES and estimate(exchanges).round_trip_s > shortest_s + _ENOUGH_S:
        exchanges.append(_exchange(ask))
    return estimate(exchanges)


def _exchange(ask: Callable[[], float]) -> Exchange:
    asked_s = monotonic()
    remote_s = ask()
    return Exchange(asked_s, remote_s, monotonic())


_MACHINE = "STACKRACE_MACHINE"
"""Variable that names the machine if several share a kernel, as network namespaces that stand for machines do."""

_WORST_CLOCK_S = 0.05
"""Largest error in seconds of a clock that can still show whether engines began together."""


class Role(StrEnum):
    """Role that a member offers, by a Dask resource of the same name."""

    STACK = "stack"
    """Hosts a stack, with everything that it needs."""
    ENGINE = "engine"
    """Sends load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A machine of the cluster, as it describes itself."""

    name: str
    """Name of the worker, unique in the cluster."""
    contact: str
    """Address of its worker: ``tcp://10.0.0.3:34781``."""
    host: str
    """Network address."""
    roles: frozenset[Role]
    version: str
    """Version of stackrace."""
    python: str
    kernel: str
    cpu: str
    """CPU model."""
    cores: tuple[int, ...]
    """Numbers of the cores that it may use."""
    memory_bytes: int
    machine: str
    """Id that is the same for all workers that share a kernel."""
    clock: ClockOffset | None = None
    """Offset of its clock; None if not compared yet."""

    def shares_machine(self, other: Member) -> bool:
        """Return True if both are on one machine, whatever their addresses: one kernel, and a core in common."""
        return self.machine == other.machine and bool(set(self.cores) & set(other.cores))


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Members that take part, by role."""

    hosts: tuple[Member, ...]
    """Members that host stacks, at least one."""
    engines: tuple[Member, ...]
    """Members that send load; without any, each host sends its own."""

    def engines_of(self, number: int) -> tuple[Member, ...]:
        """Return the engines of the host with that number: each has its own, because all are loaded at once."""
        return self.engines[number :: len(self.hosts)]


def roles_of(members: Sequence[Member]) -> Roles:
    """Return the roles of ``members``, whether or not they fit together."""
    return Roles(
        hosts=tuple(member for member in members if Role.STACK in member.roles),
        engines=tuple(member for member in members if Role.ENGINE in member.roles),
    )


def assign_roles(members: Sequence[Member], request: RaceRequest) -> Roles:
    """Return the roles of ``members``. Raises InputError, with the remedy, if they do not fit together."""
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
    """Yield the reasons why the cluster at ``address`` cannot race, each with the remedy."""
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
    """Yield a conflict if minor versions differ: servers' environments are built with the machine's Python."""
    minors = {member.name: ".".join(member.python.split(".")[:2]) for member in hosts}
    if len(set(minors.values())) > 1:
        named = ", ".join(f"{name} has {minor}" for name, minor in minors.items())
        yield f"the machines that host stacks differ in their Python: {named}; install one version"


def _sharing_cores(roles: Roles) -> Iterator[str]:
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
    """Return this machine's description: the fields of ``Member`` that only it knows."""
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
    """Return an id that is the same for all processes of a kernel. Source: random(4), boot_id."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
