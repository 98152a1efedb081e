"""Advice on limits of the kernel: files, ports, queues, CPU time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ...base.numbers import number
from ...base.verdict import Effect, Finding
from ...report.words.findings import remedy, seen, threshold, title
from ...validity.preflight import (
    RAISABLE,
    accept_queue,
    ephemeral_ports,
    file_descriptors,
    shared_cores_planned,
    shared_threads,
    time_wait,
)
from ...validity.registry import examine_plan
from .advice import Advice, Change, Gain, advise
from .look import Surroundings

_PORTS = "net.ipv4.ip_local_port_range"
_REUSE = "net.ipv4.tcp_tw_reuse"
_QUEUE = "net.core.somaxconn"
_WIDE = "10240 65535"
"""Port range without the ports below, where services listen."""

_WHY = {
    file_descriptors.declaration.id: (
        "where the limit is reached connections fail at random; a proxy needs two for each client"
    ),
    ephemeral_ports.declaration.id: (
        "each connection needs a port of its own; where none is left no connection opens"
    ),
    time_wait.declaration.id: ("ports that earlier connections hold for a minute are missing to new ones"),
    accept_queue.declaration.id: (
        "connections beyond the queue are tried again after a second, and that is then measured"
    ),
    shared_cores_planned.declaration.id: (
        "the faster a stack, the more the engine takes from it: differences come out too small"
    ),
    shared_threads.declaration.id: (
        "two hardware threads share one core's units: what the engine does slows the stack down"
    ),
}


def planned(surroundings: Surroundings) -> tuple[Advice, ...]:
    """Return what ``stackrace run`` would report before its start, with the change that cures it, if any."""
    return tuple(_advice(finding, surroundings) for finding in examine_plan(surroundings.plan).findings)


def _advice(finding: Finding, surroundings: Surroundings) -> Advice:
    cure = _CURES.get(finding.check)
    great = finding.check in (shared_cores_planned.declaration.id, time_wait.declaration.id)
    usual = Gain.GREAT if great else Gain.SOME
    return advise(
        title(finding),
        seen=seen(finding),
        threshold=threshold(finding),
        remedy=remedy(finding),
        why=_WHY[finding.check],
        gain=Gain.DECISIVE if finding.effect is Effect.INVALIDATES else usual,
        command=_command(finding),
        changes=() if cure is None else cure(surroundings),
    )


def _command(finding: Finding) -> str:
    if finding.check != file_descriptors.declaration.id or finding.cure != RAISABLE or finding.limit is None:
        return ""
    return f"ulimit -n {round(finding.limit)}"


def _longer_queue(surroundings: Surroundings) -> tuple[Change, ...]:
    length = 2 ** math.ceil(math.log2(max(surroundings.plan.concurrency, 4096)))
    return _change(surroundings, _QUEUE, str(length))


def _more_ports(surroundings: Surroundings) -> tuple[Change, ...]:
    reuse = _change(surroundings, _REUSE, "2") if surroundings.plan.limits.tw_reuse == 0 else ()
    return (*_change(surroundings, _PORTS, _WIDE), *reuse)


def _change(surroundings: Surroundings, key: str, after: str) -> tuple[Change, ...]:
    before = surroundings.settings.get(key)
    return (Change(key=key, before=before, after=after),) if before is not None and before != after else ()


_CURES: Mapping[str, Callable[[Surroundings], tuple[Change, ...]]] = {
    accept_queue.declaration.id: _longer_queue,
    ephemeral_ports.declaration.id: _more_ports,
    time_wait.declaration.id: _more_ports,
}


def short_queue(surroundings: Surroundings) -> Advice | None:
    """Return advice if servers can queue fewer than 4096 connections, Linux' own default since 5.4."""
    if (
        surroundings.plan.limits.accept_queue >= 4096
        or surroundings.plan.concurrency > surroundings.plan.limits.accept_queue
    ):
        return None
    changes = _longer_queue(surroundings)
    return advise(
        "short queue",
        seen=f"the kernel lets a server queue {surroundings.plan.limits.accept_queue} connections",
        threshold="at least 4096 (net.core.somaxconn)",
        remedy="raise it; no server's backlog is longer than that, whatever its settings say",
        why=_WHY[accept_queue.declaration.id],
        gain=Gain.LITTLE,
        changes=changes,
    )


def few_ports(surroundings: Surroundings) -> Advice | None:
    """Return advice if ports in TIME_WAIT are not reused, or there are fewer than Linux' own 28 232."""
    changes = _more_ports(surroundings)
    scarce = surroundings.plan.limits.tw_reuse == 0 or surroundings.plan.limits.ephemeral_ports < 28_232
    if not scarce or not changes or surroundings.plan.concurrency > surroundings.plan.limits.ephemeral_ports:
        return None
    return advise(
        "few ports",
        seen=f"{surroundings.plan.limits.ephemeral_ports} ephemeral ports"
        + ("" if surroundings.plan.limits.tw_reuse else ", each held for a minute after its connection"),
        threshold="28 232 ports, used again on loopback after a second (net.ipv4.tcp_tw_reuse 2)",
        remedy="widen the range and let ports be used again, if you load with keep_alive = false",
        why="with a connection per request every port of a minute's load is needed at once",
        gain=Gain.LITTLE,
        changes=changes,
    )


def cpu_quota(surroundings: Surroundings) -> Advice | None:
    """Return advice if a control group's quota grants less CPU time than its cores have."""
    cores = len({*surroundings.plan.cores.stack_cores, *surroundings.plan.cores.generator_cores})
    if surroundings.allowed_cores >= cores:
        return None
    return advise(
        "CPU quota",
        seen=f"a quota grants us the CPU time of {number(surroundings.allowed_cores)} cores, spread over {cores}",
        threshold="no quota",
        remedy="bind the container to whole cores instead (docker run --cpuset-cpus=0-3 without --cpus)",
        why="all threads of a group that used up its quota stand still for the rest of 100 ms: latencies show that",
        gain=Gain.GREAT,
    )


def delegation(surroundings: Surroundings) -> Advice | None:
    """Return advice if control groups are unavailable, so that memory is limited for each process only."""
    if surroundings.delegated is not False:
        return None
    return advise(
        "control groups",
        seen="control groups for stacks cannot be made here (version 2, cpuset and memory delegated)",
        threshold="a delegated group",
        remedy="start races in one of your own; without it the limits hold through affinity and resource limits",
        why="a control group holds a stack as a whole to its cores and its memory; a resource limit, each process",
        gain=Gain.LITTLE,
        command="systemd-run --user --scope -p Delegate=yes stackrace run"
        if "systemd" in surroundings.daemons
        else "",
    )
