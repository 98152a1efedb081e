"""The machines of a cluster: what each is, how far its clock is from ours, and who does what in a race.

What does not fit together is named before anything starts.
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
from .request import ClusterRequest

EXCHANGES = 8
"""How often a clock is asked for the time. The shortest of so many is seldom one that had to wait."""
_ENOUGH_S = 0.001
"""An exchange that took no more than so much longer than the shortest is as good: it errs by half of that more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """How a member's CLOCK_MONOTONIC differs from the coordinator's."""

    offset_s: float
    """The member's clock minus ours, in seconds."""
    error_s: float
    """The offset is off by no more than this: half of the shortest round trip."""
    round_trip_s: float
    """The shortest round trip to the member and back, in seconds, what carries it included."""
    taken_s: float
    """When it was estimated, on our own clock."""

    def to_remote(self, local_s: float) -> float:
        """Return what the member's clock shows when ours shows ``local_s``."""
        return local_s + self.offset_s


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question for the time, all in seconds of CLOCK_MONOTONIC."""

    asked_s: float
    """When it was asked, on our clock."""
    remote_s: float
    """The answer: what the other clock showed."""
    answered_s: float
    """When the answer was here, on our clock."""


def estimate(exchanges: Iterable[Exchange]) -> ClockOffset:
    """Return the offset by the shortest of ``exchanges``, of which there is one at least.

    The other clock was read somewhere between question and answer. Whoever takes the middle is off by half of the
    round trip at most, however uneven the ways are, so the shortest exchange bounds it best.

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
    """Return how the clock that ``ask`` reads, in seconds, differs from ours.

    It is asked ``EXCHANGES`` times, or until it answers about as fast as in ``shortest_s``, the shortest round trip
    that is known.
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
