"""What can be known to go wrong before anything is started."""

from __future__ import annotations

from collections.abc import Callable

from ..model.units import SIZE
from ..model.verdict import Effect, Finding, Verdict
from .growth import nearly_full
from .judge import cores_named, count, percent
from .preparation import Preparation

__all__ = ["MEMORY_SHARE", "MOST_IN_TIME_WAIT", "PREFLIGHT_CHECKS", "SPARE_FILES", "TIME_WAIT_S", "preflight"]

MEMORY_SHARE = 0.8
"""Of the memory that is free before a block, so much is given to stacks together: they grow under load."""

SPARE_FILES = 64
MOST_IN_TIME_WAIT = 0.5
"""The share of the ephemeral ports that earlier connections may still hold when a race starts."""

TIME_WAIT_S = 60
"""How long Linux holds the port of a connection that is over."""

_REUSED_AFTER_S = 2


def file_descriptors(plan: Preparation) -> Finding | None:
    """One process may open fewer than 2·C + 64 files, or C + 64 where no proxy is ours: refuse.

    A proxy holds two sockets per client; the rest is for logs, libraries and queues. Where the limit is
    reached connections fail at random.

    Source: getrlimit(2), RLIMIT_NOFILE.
    """
    needed = plan.sockets_each * plan.concurrency + SPARE_FILES
    if plan.limits.descriptors >= needed:
        return None
    return Finding(
        check="file descriptors",
        effect=Effect.INVALIDATES,
        seen=f"one process may open {count(plan.limits.descriptors)} files",
        threshold=f"at least {count(needed)} for {plan.concurrency} connections",
        remedy=f"ulimit -n {needed}"
        if plan.limits.descriptors_hard >= needed
        else f"raise nofile in /etc/security/limits.conf, or lower {plan.words.concurrency} to "
        f"{max(1, (plan.limits.descriptors_hard - SPARE_FILES) // plan.sockets_each)}",
    )


def ephemeral_ports(plan: Preparation) -> Finding | None:
    """There are more connections than ports, or they are expected to be opened faster than ports come free: refuse.

    The side that closes first holds the port in TIME_WAIT for 60 s. Where the kernel may reuse such ports
    (tcp_tw_reuse 1, or 2 on loopback, the default since Linux 4.19) it does so after a second, two to be
    sure.

    Source: RFC 9293 section 3.6.1; Documentation/networking/ip-sysctl.rst, tcp_tw_reuse.
    """
    if not plan.over_tcp:
        return None
    if plan.concurrency > plan.limits.ephemeral_ports:
        return Finding(
            check="ephemeral ports",
            effect=Effect.INVALIDATES,
            seen=f"{count(plan.concurrency)} connections to one address need as many ports",
            threshold=f"at most {count(plan.limits.ephemeral_ports)}",
            remedy=f"sysctl net.ipv4.ip_local_port_range='1024 65535', or lower {plan.words.concurrency}",
        )
    held_s = _REUSED_AFTER_S if plan.limits.tw_reuse else TIME_WAIT_S
    needed = plan.connections_per_s * held_s
    if all(load.keep_alive for load in plan.loads) or needed <= plan.limits.ephemeral_ports:
        return None
    return Finding(
        check="ephemeral ports",
        effect=Effect.INVALIDATES,
        seen=f"{count(plan.connections_per_s)} connections per second, each holding its port for {held_s} s, "
        f"need {count(needed)} ports",
        threshold=f"at most {count(plan.limits.ephemeral_ports)}",
        remedy=f"{plan.words.keep}; or sysctl net.ipv4.ip_local_port_range='1024 65535'"
        + ("" if plan.limits.tw_reuse else " net.ipv4.tcp_tw_reuse=2"),
    )


def time_wait(plan: Preparation) -> Finding | None:
    """More than half of the ports are still held by connections in TIME_WAIT: wait a minute.

    Source: RFC 9293 section 3.6.1; TIME_WAIT lasts 60 s in Linux.
    """
    share = plan.limits.time_wait / plan.limits.ephemeral_ports if plan.limits.ephemeral_ports else 0.0
    if share <= MOST_IN_TIME_WAIT:
        return None
    return Finding(
        check="ports in TIME_WAIT",
        effect=Effect.WARNS,
        seen=f"{percent(share)} of the ephemeral ports are held by earlier connections",
        threshold="at most 50 %",
        remedy="wait a minute before the start; whatever ran here before opened many connections",
    )


def accept_queue(plan: Preparation) -> Finding | None:
    """More clients may connect at once than the kernel lets any server queue.

    Source: listen(2): a backlog above net.core.somaxconn is cut to it without a word.
    """
    if plan.concurrency <= plan.limits.accept_queue:
        return None
    return Finding(
        check="accept queue",
        effect=Effect.WARNS,
        seen=f"{count(plan.concurrency)} clients may connect at once",
        threshold=f"at most {count(plan.limits.accept_queue)} (net.core.somaxconn)",
        remedy=f"sysctl net.core.somaxconn={plan.concurrency}",
    )


def shared_cores(plan: Preparation) -> Finding | None:
    """Load engine and stacks will compete for cores: the faster a stack, the more it is held back.

    Source: Schroeder et al., NSDI 2006, on clients as part of the system.
    """
    if not plan.cores.shared:
        return None
    both = tuple(sorted({*plan.cores.stack_cores} & {*plan.cores.generator_cores}))
    return Finding(
        check="shared cores",
        effect=Effect.WARNS,
        seen=f"load engine and {plan.words.servers} share {cores_named(both)}",
        threshold="none shared",
        remedy="a machine with at least two cores"
        if len({*plan.cores.stack_cores, *plan.cores.generator_cores}) < 2
        else "leave a core to the load engine alone",
    )


def disk_nearly_full(plan: Preparation) -> Finding | None:
    """Over 80 % of the file system for run directories is taken, and less than 10 GiB is left.

    Source: statvfs(3).
    """
    return nearly_full(plan.disk_bytes, plan.disk_free_bytes)


def shared_threads(plan: Preparation) -> Finding | None:
    """Load engine and stacks run on threads of the same core (SMT): each is the slower, the more the other does.

    Source: Documentation/admin-guide/cputopology.rst, thread_siblings_list.
    """
    stacks, engine = set(plan.cores.stack_cores), set(plan.cores.generator_cores)
    split = [core for core in plan.threads if stacks & set(core) and engine & set(core)]
    if plan.cores.shared or not split:
        return None
    return Finding(
        check="shared threads",
        effect=Effect.WARNS,
        seen=f"load engine and {plan.words.servers} run on threads of one core ({cores_named(split[0])})",
        threshold="on different cores",
        remedy="a machine with at least two cores" if len(plan.threads) < 2 else "leave a whole core to the engine",
    )


def memory_budget(plan: Preparation) -> Finding | None:
    """What stacks may hold is not there: refuse where it is too much for one, say how many fit where not for all.

    A machine that swaps measures its disk. A stack alone may have all that is free, several together their share.

    Source: proc_meminfo(5), MemAvailable.
    """
    each = plan.cores.memory_bytes
    if each is None:
        return None
    none = plan.memory_bytes < each
    fitting = max(MEMORY_SHARE * plan.memory_bytes // each, 1)
    if not none and fitting >= plan.stacks:
        return None
    return Finding(
        check="memory budget",
        effect=Effect.INVALIDATES if none else Effect.WARNS,
        seen=f"{SIZE.format(plan.memory_bytes)} of memory are free, "
        + ("less than a single stack may hold" if none else f"enough for {fitting:.0f} of {plan.stacks} at once"),
        threshold=f"{SIZE.format(each)} for each of {plan.stacks}"
        + ("" if none else f", together at most {MEMORY_SHARE:.0%} of what is free"),
        remedy="lower --memory ([race] memory), or end what else holds memory here"
        if none
        else "they are raced in batches; lower --memory ([race] memory) to have all of them up at once",
    )


PREFLIGHT_CHECKS: tuple[Callable[[Preparation], Finding | None], ...] = (
    file_descriptors,
    ephemeral_ports,
    time_wait,
    accept_queue,
    shared_cores,
    disk_nearly_full,
    shared_threads,
    memory_budget,
)


def preflight(plan: Preparation) -> Verdict:
    """Run every check on what is planned; an invalid verdict means that the race must not start."""
    return Verdict.of(check(plan) for check in PREFLIGHT_CHECKS)
