"""Checks before the start: the machine has room for the load, and its address leads where it should."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..base.numbers import percent
from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made, before_start
from .observation import LaunchView, Preparation

SPARE_FILES = 64
RAISABLE = "soft"
"""Key of the remedy for file descriptors if a command can raise the limit."""

MOST_IN_TIME_WAIT = 0.5
"""Largest share of the ephemeral ports that earlier connections may hold when a race starts."""

TIME_WAIT_S = 60
"""Seconds for which Linux holds the port of a finished connection."""

_RAISE = "raise `ulimit -n` to {limit:.0f}, and its maximum, nofile in /etc/security/limits.conf"
_REUSED_AFTER_S = 2
_WIDER = "sysctl net.ipv4.ip_local_port_range='1024 65535'"


@before_start(
    id="file-descriptors",
    number=20,
    effects=(Effect.INVALIDATES,),
    threshold="at least {limit:count} for {clients} connections",
    rule=f"at least 2·C + {SPARE_FILES}; C + {SPARE_FILES} without a proxy of ours",
    seen="one process may open {value:count} files",
    remedy={
        RAISABLE: "ulimit -n {limit:.0f}",
        "hard": f"{_RAISE}, or lower {{knob.concurrency}} to {{lower}}",
        "held": f"{_RAISE}, or lower {{knob.held}}",
        "least": _RAISE,
    },
    source="getrlimit(2), RLIMIT_NOFILE",
)
def file_descriptors(plan: Preparation) -> Finding | None:
    """One process may open fewer files than the load needs.

    A proxy holds two sockets per client, and one for each connection beside the load; logs, libraries and queues
    need further files. At the limit connections fail at random.
    """
    alone = plan.sockets_each * plan.concurrency + SPARE_FILES
    needed = alone + plan.held
    if plan.limits.descriptors >= needed:
        return None
    hard = plan.limits.descriptors_hard
    lower = (hard - SPARE_FILES - plan.held) // plan.sockets_each
    cure = "held" if hard >= alone else "hard" if lower > 0 else "least"
    return file_descriptors.finding(
        value=plan.limits.descriptors,
        limit=needed,
        cure=RAISABLE if hard >= needed else cure,
        clients=plan.concurrency + plan.held,
        held=plan.limits.descriptors >= alone,
        lower=lower,
    )


@before_start(
    id="ephemeral-ports",
    number=18,
    effects=(Effect.INVALIDATES,),
    threshold="at most {limit:count}",
    rule="as many as there are",
    seen={
        "connections": "{value:count} connections to one address need as many ports",
        "rate": "{connections_per_s:count} connections per second, each holding its port for {held_s} s, "
        "need {value:count} ports",
    },
    remedy={
        "connections": f"{_WIDER}, or lower {{knob.concurrency}}",
        "held": f"{_WIDER}, or lower {{knob.held}}",
        "keep": f"{{knob.keep}}; or {_WIDER}",
        "reuse": f"{{knob.keep}}; or {_WIDER} net.ipv4.tcp_tw_reuse=2",
    },
    source="RFC 9293 section 3.6.1; Documentation/networking/ip-sysctl.rst, tcp_tw_reuse",
)
def ephemeral_ports(plan: Preparation) -> Finding | None:
    """The load needs more ports than there are, or opens connections faster than ports come free.

    The side that closes first holds the port in TIME_WAIT for 60 s. If the kernel may reuse such ports
    (tcp_tw_reuse 1, or 2 on loopback, the default since Linux 4.19), it does so after a second; two are assumed to
    be sure.
    """
    if not plan.over_tcp:
        return None
    ports = plan.limits.ephemeral_ports
    if (wanted := plan.concurrency + plan.held) > ports:
        held = plan.concurrency <= ports
        cure = "held" if held else "connections"
        return ephemeral_ports.finding(value=wanted, limit=ports, case="connections", cure=cure, held=held)
    held_s = _REUSED_AFTER_S if plan.limits.tw_reuse else TIME_WAIT_S
    needed = plan.connections_per_s * held_s
    if all(load.keep_alive for load in plan.loads) or needed <= ports:
        return None
    return ephemeral_ports.finding(
        value=needed,
        limit=ports,
        case="rate",
        cure="keep" if plan.limits.tw_reuse else "reuse",
        connections_per_s=plan.connections_per_s,
        held_s=held_s,
    )


@before_start(
    id="ports-in-time-wait",
    number=19,
    title="ports in TIME_WAIT",
    limits=Limits(warns=MOST_IN_TIME_WAIT),
    of="of ports",
    seen="{value:percent} of the ephemeral ports are held by earlier connections",
    remedy="wait a minute before the start; whatever ran here before opened many connections",
    source="RFC 9293 section 3.6.1",
)
def time_wait(plan: Preparation) -> Finding | None:
    """Many ports are still held by closed connections (TIME_WAIT, 60 s in Linux)."""
    ports = plan.limits.ephemeral_ports
    return time_wait.judge(plan.limits.time_wait / ports if ports else 0.0)


@before_start(
    id="accept-queue",
    number=15,
    effects=(Effect.WARNS,),
    threshold="at most {limit:count} (net.core.somaxconn)",
    rule="at most net.core.somaxconn",
    seen="{value:count} clients may connect at once",
    remedy="sysctl net.core.somaxconn={clients}",
    source="listen(2)",
)
def accept_queue(plan: Preparation) -> Finding | None:
    """More clients may connect at once than the kernel queues for a server.

    The kernel silently cuts a larger backlog to net.core.somaxconn.
    """
    if plan.concurrency <= plan.limits.accept_queue:
        return None
    return accept_queue.finding(value=plan.concurrency, limit=plan.limits.accept_queue, clients=plan.concurrency)


MEMORY_SHARE = 0.8
"""Largest share of the free memory for all stacks together: they grow under load."""


@before_start(
    id="shared-cores-planned",
    number=9,
    title="shared cores",
    effects=(Effect.WARNS,),
    threshold="none shared",
    seen="load engine and {knob.servers} share {shared:cores}",
    remedy={
        "single": "a machine with at least two cores",
        "several": "{knob.engine_core}",
    },
    source="Schroeder et al., NSDI 2006",
)
def shared_cores_planned(plan: Preparation) -> Finding | None:
    """Load engine and stacks will compete for cores, which slows fast stacks most."""
    if not plan.cores.shared:
        return None
    stacks, engine = set(plan.cores.stack_cores), set(plan.cores.generator_cores)
    return shared_cores_planned.finding(
        cure="single" if len(stacks | engine) < 2 else "several", shared=tuple(sorted(stacks & engine))
    )


@before_start(
    id="shared-threads",
    number=9,
    effects=(Effect.WARNS,),
    threshold="on different cores",
    seen="load engine and {knob.servers} run on threads of one core ({threads:cores})",
    remedy={"single": "a machine with at least two cores", "several": "leave a whole core to the engine"},
    source="Documentation/admin-guide/cputopology.rst",
)
def shared_threads(plan: Preparation) -> Finding | None:
    """Load engine and stacks run on threads of the same core (SMT) and slow each other."""
    stacks, engine = set(plan.cores.stack_cores), set(plan.cores.generator_cores)
    split = [core for core in plan.threads if stacks & set(core) and engine & set(core)]
    if plan.cores.shared or not split:
        return None
    return shared_threads.finding(cure="single" if len(plan.threads) < 2 else "several", threads=split[0])


@before_start(
    id="memory-limit",
    number=14,
    effects=(Effect.WARNS, Effect.INVALIDATES),
    unit=Unit.BYTES,
    threshold={
        "none": "{each_bytes:size} for each of {stacks}",
        "some": "{each_bytes:size} for each of {stacks}, "
        f"together at most {percent(MEMORY_SHARE)} of what is free",
    },
    rule=f"all stacks in {percent(MEMORY_SHARE)} of the free memory; one in all of it",
    seen={
        "none": "{value:size} of memory are free, less than a single stack may hold",
        "some": "{value:size} of memory are free, enough for {fitting} of {stacks} at once",
    },
    remedy={
        "none": "lower --memory ([race] memory), or end what else holds memory here",
        "some": "they are raced in batches; lower --memory ([race] memory) to have all of them up at once",
    },
    source="proc_meminfo(5), MemAvailable",
)
def memory_limit(plan: Preparation) -> Finding | None:
    """Too little memory is free for all stacks (they race in batches), or even for one (refused).

    On a machine that swaps, a race measures the disk. A single stack may use all free memory, several stacks
    together a share of it.
    """
    each = plan.cores.memory_bytes
    if each is None:
        return None
    none = plan.memory_bytes < each
    fitting = max(MEMORY_SHARE * plan.memory_bytes // each, 1)
    if not none and fitting >= plan.stacks:
        return None
    return memory_limit.finding(
        effect=Effect.INVALIDATES if none else Effect.WARNS,
        value=plan.memory_bytes,
        limit=each if none else each * plan.stacks / MEMORY_SHARE,
        case="none" if none else "some",
        cure="none" if none else "some",
        each_bytes=each,
        stacks=plan.stacks,
        fitting=int(fitting),
    )


_FULL = 0.80
_ROOMY_BYTES = 10 * 2**30


@Declaration(
    id="disk-nearly-full",
    number=32,
    made=(Made.START, Made.LAUNCH),
    effects=(Effect.WARNS,),
    unit=Unit.SHARE,
    threshold=f"at most {percent(_FULL)}, or {_ROOMY_BYTES >> 30} GiB left",
    seen="the disk of the run directory is {value:percent} full, {free_bytes:gib} GiB are left",
    remedy="free some space, or set TMPDIR to a folder on a roomier disk",
    source="statvfs(3)",
)
def _disk_nearly_full(view: Preparation | LaunchView) -> Finding | None:
    """The file system of the run directories is nearly full.

    A share alone would accuse large disks with hundreds of GiB to spare.
    """
    disk = view.aftermath if isinstance(view, LaunchView) else view
    return nearly_full(disk.disk_bytes, disk.disk_free_bytes)


def nearly_full(total_bytes: int, free_bytes: int) -> Finding | None:
    """Return a finding if a file system of ``total_bytes`` is nearly full; ``total_bytes`` is 0 if unknown."""
    if not total_bytes or free_bytes >= _ROOMY_BYTES or free_bytes >= (1 - _FULL) * total_bytes:
        return None
    return _disk_nearly_full.finding(value=1 - free_bytes / total_bytes, limit=_FULL, free_bytes=free_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Destination of a load."""

    name: str
    """Host of the URL."""
    dialled: str
    """Address that the engine connects to."""
    answers: bool = True
    """True if a program accepts connections there."""
    others: tuple[str, ...] = ()
    """Further addresses of the host name at which a program accepts connections."""
    proxies: Mapping[str, str] = field(default_factory=dict)
    """Variables (``http_proxy``) that send other clients another way to this host, with their values."""


@before_start(
    id="address",
    number=35,
    effects=(Effect.WARNS, Effect.INVALIDATES),
    threshold={"several": "one address", "elsewhere": "one address", "proxy": "the same way"},
    rule="one address that answers, no proxy",
    seen={
        "several": "{name} accepts connections at {others:list}, too; the load goes to {dialled}",
        "elsewhere": "{name} accepts connections at {others:list}, but not at {dialled}, where the load would go",
        "proxy": "other clients reach {name} through {proxy} ({variable}); the load goes there directly",
    },
    remedy={
        "several": "name the address you mean: {dialled} or {first}",
        "elsewhere": "name it: {first}",
        "proxy": "unset {variable}, or add {name} to no_proxy, before you compare with other clients",
    },
    source="RFC 6761 section 6.3; RFC 6724; curl(1), ENVIRONMENT",
)
def address(destination: Destination) -> Finding | None:
    """The host name has several addresses, or other clients reach it through a proxy.

    ``localhost`` is 127.0.0.1 and ::1, and two programs may listen there. A comparison by name may compare two
    servers, or two network stacks. If only an address that is not dialled accepts connections, the load is refused,
    since all of it would fail. A race dials 127.0.0.1, never a name.
    """
    if destination.others:
        case = "several" if destination.answers else "elsewhere"
        return address.finding(
            effect=Effect.WARNS if destination.answers else Effect.INVALIDATES,
            case=case,
            cure=case,
            name=destination.name,
            others=destination.others,
            dialled=destination.dialled,
            first=f"[{destination.others[0]}]" if ":" in destination.others[0] else destination.others[0],
        )
    if not destination.proxies:
        return None
    variable, proxy = next(iter(destination.proxies.items()))
    return address.finding(case="proxy", cure="proxy", name=destination.name, variable=variable, proxy=proxy)
