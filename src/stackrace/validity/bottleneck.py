"""Place where the time of one slice's answers goes, found from its observation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, multimode

from ..measure.launch import Bottleneck, BottleneckKind
from ..measure.load import answered_per_s
from ..stacks.setting import Interface
from ..stacks.stack import Hop, Stack
from .connections import delayed_acks
from .observation import Observation

_BUSY = 0.85
"""Least used share of a core, or of all cores, at which the CPU is the limit."""
_IDLE = 0.5
"""Share of the cores below which answers wait for something else."""
_CLIENT_BUSY = 0.7
"""Use of the engine's core above which it may be the limit."""
_LONG_S = 0.02
"""Least time of a page in seconds from which the number of requests served at once can be told."""
_LEAST_ROUNDS = 3
"""Fewest rounds of answers in a slice from which this number can be told."""
_ALL, _TOO_FEW, _TOO_MANY = 0.9, 0.8, 1.1
"""Requests served at once as a share of the possible number: from the first on all are served at once, below the
second too few, and above the third is impossible."""
_MOST_WAIT = 0.1
"""Most seconds per second that threads may be ready without a core: a late thread delays all others."""
_MOSTLY = 0.5
_HOLDER = 0.8
"""Least mean number of threads that work while others wait for a lock: one of them holds the lock."""
_AGREED = 2 / 3


def bottleneck(observation: Observation) -> Bottleneck | None:
    """Return the place where the time of a closed loop's answers goes; None if the figures do not decide.

    Little's law gives the requests served at once: throughput times the page's own time. A server cannot serve more
    than its threads, nor more than there are connections. Source: J. D. C. Little, Operations Research 9 (1961).
    """
    if (
        observation.stack is None
        or observation.load.is_open
        or observation.pauses
        or observation.result.generator_busy > _CLIENT_BUSY
        or min(observation.machine.elapsed_s, observation.result.duration_s) <= 0
        or not observation.usage
        or delayed_acks(observation) is not None
    ):
        return None
    cores_s = len(observation.cores.stack_cores) * observation.machine.elapsed_s
    used_s = observation.stack_cpu_s + (observation.result.generator_cpu_s if observation.cores.shared else 0.0)
    busy = _busy(observation, observation.stack, cores_s)
    return busy or (_waiting(observation, observation.stack.hops[-1]) if used_s < _IDLE * cores_s else None)


def agreed(bottlenecks: Sequence[Bottleneck | None]) -> Bottleneck | None:
    """Return the place on which two thirds of the slices of a stack at one level agree, with their mean figures.

    Returns None if the slices do not agree.
    """
    bare = [None if one is None else replace(one, at_once=None, page_s=None) for one in bottlenecks]
    usual = next(iter(multimode(bare)), None)
    alike = [one for one, same in zip(bottlenecks, bare, strict=True) if one is not None and same == usual]
    if usual is None or len(alike) < _AGREED * len(bottlenecks):
        return None
    known = [(one.at_once, one.page_s) for one in alike if one.at_once is not None and one.page_s is not None]
    if not known:
        return usual
    at_once, page_s = (fmean(figures) for figures in zip(*known, strict=True))
    if usual.kind is BottleneckKind.WAITING and at_once < _TOO_FEW * (usual.places or 0):
        return None
    return replace(usual, at_once=at_once, page_s=page_s)


def _busy(observation: Observation, stack: Stack, cores_s: float) -> Bottleneck | None:
    """Return CPU or a service if the cores are busy; CPU too if each process of the app keeps a core busy.

    Python and Ruby let one thread of a process compute at a time.
    """
    if observation.stack_cpu_s >= _BUSY * cores_s:
        dearest = max(observation.usage, key=lambda usage: usage.cpu_s)
        is_hop = any(hop.server in dearest.hop.split("+") for hop in stack.hops)
        return Bottleneck(kind=BottleneckKind.CPU if is_hop else BottleneckKind.SERVICE, name=dearest.hop)
    host = stack.hops[-1]
    processes = _processes(host) or 0
    is_one_each = _BUSY <= _busy_of_each(observation, host) <= _TOO_MANY
    if 0 < processes * observation.machine.elapsed_s < cores_s and is_one_each:
        return Bottleneck(kind=BottleneckKind.CPU, name=host.server, places=processes, unit="process")
    return None


def _waiting(observation: Observation, host: Hop) -> Bottleneck | None:
    most, unit = _most_at_once(observation, host)
    result = observation.result
    known = _LONG_S <= observation.page_s <= result.duration_s / _LEAST_ROUNDS and not result.counts.errors
    own_s = observation.page_s if known else None
    at_once = None if own_s is None else own_s * answered_per_s(observation.load, result)
    # slow answers come in rounds, and the slice may have caught one more or one less
    a_round = (own_s or 0.0) / result.duration_s
    place = Bottleneck(kind=BottleneckKind.WAITING, places=most, unit=unit, at_once=at_once, page_s=own_s)
    if at_once is not None and at_once > (_TOO_MANY + a_round) * most:
        # more requests than threads: an asynchronous server, or a server with a pool of its own, has another limit
        most = observation.load.concurrency
        place = replace(place, places=most, unit="connection")
    threads = observation.threads
    if threads is not None and threads.database >= _MOSTLY * most:
        return replace(place, kind=BottleneckKind.DATABASE)
    if _is_locked(observation, host, at_once):
        return replace(place, kind=BottleneckKind.LOCK)
    if at_once is None or at_once > (_TOO_MANY + a_round) * most:
        return None
    if at_once >= (_ALL - a_round) * most:
        return place
    has_cores = observation.stack_wait_s <= _MOST_WAIT * observation.machine.elapsed_s
    # while a server still works on requests that a warm-up left in its queue, only the first answers are late
    usual = (
        at_once
        if result.latency.p50 <= 0
        else observation.page_s * observation.load.concurrency / result.latency.p50
    )
    is_short = max(at_once, usual) < (_TOO_FEW - a_round) * most and most <= host.promised and has_cores
    return replace(place, kind=BottleneckKind.SHORT) if is_short else None


def _is_locked(observation: Observation, host: Hop, at_once: float | None) -> bool:
    """Return True if half of the threads wait for a lock that another thread holds.

    Threads without a request wait at a lock, too. Such threads exist if there are fewer connections than threads,
    or if connections are spread unevenly over processes. As many threads as can be idle then are not counted.
    Threads beside an event loop, of a pool or a database's library, are idle in the same way: nothing is said of
    them.
    """
    threads, clients = observation.threads, observation.load.concurrency
    is_event_loop = observation.stack is not None and observation.stack.interface is Interface.ASGI
    if threads is None or is_event_loop:
        return False
    if threads.other + threads.database < _HOLDER or _busy_of_each(observation, host) > _IDLE:
        return False
    in_use = min(clients, max(host.promised, threads.lock + threads.other + threads.database))
    idle = max(host.promised - clients, 0)
    if host.threads > 1:
        idle += host.promised - host.threads
    is_short = at_once is None or at_once < _TOO_FEW * in_use
    return is_short and threads.lock - idle >= max(_MOSTLY * in_use, 1.0)


def _busy_of_each(observation: Observation, host: Hop) -> float:
    """Return the share of a core that each process of the host used."""
    used_s = sum(usage.cpu_s for usage in observation.usage if usage.hop == host.server)
    return used_s / ((_processes(host) or 1) * observation.machine.elapsed_s)


def _most_at_once(observation: Observation, host: Hop) -> tuple[int, str]:
    """Return the number of requests that can be served at once, and its unit: connection, thread or process."""
    clients = observation.load.concurrency
    if clients <= host.promised or (host.threads <= 1 and _processes(host) is None):
        return clients, "connection"
    return host.promised, "thread" if host.threads > 1 else "process"


def _processes(hop: Hop) -> int | None:
    """Return the number of processes that serve requests; None if the settings do not say."""
    if hop.processes is not None:
        return hop.processes.most * hop.instances
    return hop.instances if hop.threads > 1 else None
