"""What can be known to go wrong before anything is started."""

from __future__ import annotations

from ..model.numbers import percent
from ..model.verdict import Effect, Finding, Unit, Verdict
from .declaration import Check, Declaration, Limits, Made
from .disk import disk_nearly_full
from .preparation import Preparation

__all__ = ["MEMORY_SHARE", "MOST_IN_TIME_WAIT", "PREFLIGHT_CHECKS", "SPARE_FILES", "TIME_WAIT_S", "preflight"]

MEMORY_SHARE = 0.8
"""The share of the free memory that all stacks may have together: they grow under load."""

SPARE_FILES = 64
RAISABLE = "soft"
"""The remedy for file descriptors where a command raises the limit."""

MOST_IN_TIME_WAIT = 0.5
"""The share of the ephemeral ports that earlier connections may still hold when a race starts."""

TIME_WAIT_S = 60
"""How long Linux holds the port of a connection that is over."""

_REUSED_AFTER_S = 2
_WIDER = "sysctl net.ipv4.ip_local_port_range='1024 65535'"


@Declaration(
    id="file-descriptors",
    number=20,
    title="file descriptors",
    made=(Made.START,),
    effects=(Effect.INVALIDATES,),
    threshold="at least {limit:count} for {clients} connections",
    rule=f"at least 2·C + {SPARE_FILES}; C + {SPARE_FILES} without a proxy of ours",
    seen="one process may open {value:count} files",
    remedy={
        RAISABLE: "ulimit -n {limit:.0f}",
        "hard": "raise nofile in /etc/security/limits.conf, or lower {knob.concurrency} to {lower}",
    },
    source="getrlimit(2), RLIMIT_NOFILE",
)
def file_descriptors(plan: Preparation) -> Finding | None:
    """One process may open fewer files than the load needs.

    A proxy holds two sockets per client; the rest is for logs, libraries and queues. Where the limit is
    reached connections fail at random.
    """
    needed = plan.sockets_each * plan.concurrency + SPARE_FILES
    if plan.limits.descriptors >= needed:
        return None
    return file_descriptors.finding(
        value=plan.limits.descriptors,
        limit=needed,
        cure=RAISABLE if plan.limits.descriptors_hard >= needed else "hard",
        clients=plan.concurrency,
        lower=max(1, (plan.limits.descriptors_hard - SPARE_FILES) // plan.sockets_each),
    )


@Declaration(
    id="ephemeral-ports",
    number=18,
    title="ephemeral ports",
    made=(Made.START,),
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
        "keep": f"{{knob.keep}}; or {_WIDER}",
        "reuse": f"{{knob.keep}}; or {_WIDER} net.ipv4.tcp_tw_reuse=2",
    },
    source="RFC 9293 section 3.6.1; Documentation/networking/ip-sysctl.rst, tcp_tw_reuse",
)
def ephemeral_ports(plan: Preparation) -> Finding | None:
    """The load needs more ports than there are, or opens connections faster than ports come free.

    The side that closes first holds the port in TIME_WAIT for 60 s. Where the kernel may reuse such ports
    (tcp_tw_reuse 1, or 2 on loopback, the default since Linux 4.19) it does so after a second, two to be
    sure.
    """
    if not plan.over_tcp:
        return None
    ports = plan.limits.ephemeral_ports
    if plan.concurrency > ports:
        return ephemeral_ports.finding(value=plan.concurrency, limit=ports, case="connections", cure="connections")
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


@Declaration(
    id="ports-in-time-wait",
    number=19,
    title="ports in TIME_WAIT",
    made=(Made.START,),
    limits=Limits(warns=MOST_IN_TIME_WAIT),
    unit=Unit.SHARE,
    of="of ports",
    seen="{value:percent} of the ephemeral ports are held by earlier connections",
    remedy="wait a minute before the start; whatever ran here before opened many connections",
    source="RFC 9293 section 3.6.1",
)
def time_wait(plan: Preparation) -> Finding | None:
    """Many ports are still held by closed connections (TIME_WAIT, 60 s in Linux)."""
    ports = plan.limits.ephemeral_ports
    return time_wait.judge(plan.limits.time_wait / ports if ports else 0.0)


@Declaration(
    id="accept-queue",
    number=15,
    title="accept queue",
    made=(Made.START,),
    effects=(Effect.WARNS,),
    threshold="at most {limit:count} (net.core.somaxconn)",
    rule="at most net.core.somaxconn",
    seen="{value:count} clients may connect at once",
    remedy="sysctl net.core.somaxconn={clients}",
    source="listen(2)",
)
def accept_queue(plan: Preparation) -> Finding | None:
    """More clients may connect at once than the kernel queues for a server.

    A backlog above net.core.somaxconn is cut to it without a word.
    """
    if plan.concurrency <= plan.limits.accept_queue:
        return None
    return accept_queue.finding(value=plan.concurrency, limit=plan.limits.accept_queue, clients=plan.concurrency)


@Declaration(
    id="shared-cores-planned",
    number=9,
    title="shared cores",
    made=(Made.START,),
    effects=(Effect.WARNS,),
    threshold="none shared",
    rule="none shared",
    seen="load engine and {knob.servers} share {shared:cores}",
    remedy={
        "single": "a machine with at least two cores",
        "several": "leave a core to the load engine alone",
    },
    source="Schroeder et al., NSDI 2006",
)
def shared_cores(plan: Preparation) -> Finding | None:
    """Load engine and stacks will compete for cores, which slows fast stacks most."""
    if not plan.cores.shared:
        return None
    stacks, engine = set(plan.cores.stack_cores), set(plan.cores.generator_cores)
    return shared_cores.finding(
        cure="single" if len(stacks | engine) < 2 else "several", shared=tuple(sorted(stacks & engine))
    )


@Declaration(
    id="shared-threads",
    number=9,
    title="shared threads",
    made=(Made.START,),
    effects=(Effect.WARNS,),
    threshold="on different cores",
    rule="on different cores",
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


@Declaration(
    id="memory-limit",
    number=14,
    title="memory limit",
    made=(Made.START,),
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

    A machine that swaps measures its disk. A stack alone may have all that is free, several together their share.
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


PREFLIGHT_CHECKS: tuple[Check[Preparation], ...] = (
    file_descriptors,
    ephemeral_ports,
    time_wait,
    accept_queue,
    shared_cores,
    disk_nearly_full,
    shared_threads,
    memory_limit,
)


def preflight(plan: Preparation) -> Verdict:
    """Run every check on what is planned; an invalid verdict means that the race must not start."""
    return Verdict.of(check(plan) for check in PREFLIGHT_CHECKS)
