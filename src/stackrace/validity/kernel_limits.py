"""Does the kernel grant what the planned load takes: files, ports, a queue for its clients?"""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made
from .preparation import Preparation

__all__ = [
    "MOST_IN_TIME_WAIT",
    "RAISABLE",
    "SPARE_FILES",
    "TIME_WAIT_S",
    "accept_queue",
    "ephemeral_ports",
    "file_descriptors",
    "time_wait",
]

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
