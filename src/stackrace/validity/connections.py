"""Could connections be opened, were there as many as claimed, were they kept, and did each get its turn?"""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation
from .texts import LOWER_CONCURRENCY, MORE_FILES, MORE_PORTS

__all__ = ["close_ignored", "descriptors_exhausted", "established", "fairness", "ports_exhausted", "reconnects"]

_ENOUGH_PER_CONNECTION = 20


@Declaration(
    id="established-connections",
    number=21,
    title="established connections",
    made=(Made.SLICE, Made.RUN),
    effects=(Effect.INVALIDATES,),
    threshold="exactly {limit:count}",
    rule="as many as asked for",
    seen="at most {value:count} connections were open at the same time",
    remedy={
        "queue": "raise the server's backlog and net.core.somaxconn: the accept queue overflowed",
        "server": "raise the server's limit of connections, or lower {knob.concurrency} to {lower}",
    },
    source="Schroeder et al., NSDI 2006",
)
def established(observation: Observation) -> Finding | None:
    """Fewer connections were open at the same time than the load asks for.

    A figure for 250 clients that was got with 200 is a figure for 200. Only kept connections can be held to
    this: with keep-alive off, or a server that closes, some are always being opened. A load of fewer requests
    than connections needs no more connections than requests, an open loop no more than it has use for.
    """
    few_reconnects = reconnects.limits.warns or 0.0
    if not _are_kept(observation) or observation.load.is_open or _reconnect_share(observation) > few_reconnects:
        return None
    claimed = min(observation.load.concurrency, observation.result.counts.scheduled)
    peak = observation.result.established_peak
    if peak >= claimed:
        return None
    overflowed = observation.machine.listen_overflows or observation.machine.syn_retransmits
    return established.finding(
        value=peak, limit=claimed, cure="queue" if overflowed else "server", lower=max(1, peak)
    )


@Declaration(
    id="fairness",
    number=22,
    title="fairness",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.8),
    least=True,
    unit=Unit.INDEX,
    seen="connections were served unevenly: Jain's index {value:.2f}",
    remedy={
        "kept": "some connections wait for a free worker: give the server as many threads as {knob.concurrency} "
        "({clients}), an asynchronous worker, or a front end that spreads the requests",
        "closed": "the accept queue is served unevenly: look at the server's backlog and its way of accepting",
    },
    source="R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984",
)
def fairness(observation: Observation) -> Finding | None:
    """Some connections got far more answers than others, by Jain's index."""
    few = observation.answered < _ENOUGH_PER_CONNECTION * observation.load.concurrency
    if few or observation.load.is_open:
        return None
    return fairness.judge(
        observation.result.fairness,
        cure="kept" if observation.load.keep_alive else "closed",
        clients=observation.load.concurrency,
    )


@Declaration(
    id="reconnects",
    number=23,
    title="reconnects",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.001),
    unit=Unit.SHARE,
    of="of answers",
    seen="the server closed the connection after {value:percent} of the answers, although keep-alive is on",
    remedy={
        "server": "does the app send Connection: close, or are {server}'s workers recycled after some requests? "
        "If it should stay so: {knob.close}",
        "design": "{reason}; or put a front end before it; or {knob.close}",
    },
    source="RFC 9112 section 9.3",
)
def reconnects(observation: Observation) -> Finding | None:
    """Keep-alive is on, but the server closed connections after an answer.

    Latencies then contain connecting, and stacks that keep connections are compared with one that does not.
    Some servers never keep them: that is a property of the stack, so it only warns.
    """
    if not observation.load.keep_alive:
        return None
    front = observation.stack.hops[0] if observation.stack else None
    reason = front.closes_because if front else ""
    return reconnects.judge(
        _reconnect_share(observation),
        cure="design" if reason else "server",
        reason=reason,
        server=front.server if front else "the server",
    )


@Declaration(
    id="close-ignored",
    number=24,
    title="close ignored",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(invalidates=0.01),
    unit=Unit.SHARE,
    of="of answers",
    seen="{value:percent} of the answers came over a connection that should have been closed",
    remedy="{knob.keep} if connections are to be kept; else please report this",
    source="RFC 9112 section 9.6",
)
def close_ignored(observation: Observation) -> Finding | None:
    """Keep-alive is off, but answers came over a connection that was used before."""
    if observation.load.keep_alive or not observation.answered:
        return None
    return close_ignored.judge(1 - observation.result.connections_opened / observation.answered)


def _are_kept(observation: Observation) -> bool:
    return observation.load.keep_alive and observation.load.requests_per_connection is None


def _reconnect_share(observation: Observation) -> float:
    return observation.result.reconnects / max(1, observation.answered)


@Declaration(
    id="ports-exhausted",
    number=18,
    title="ports exhausted",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(invalidates=0),
    seen="{value:count} connections could not be opened: the load engine had no local port left",
    remedy={"kept": f"{MORE_PORTS}; or {LOWER_CONCURRENCY}", "closed": f"{{knob.keep}}; or {MORE_PORTS}"},
    source="connect(2), EADDRNOTAVAIL; Documentation/networking/ip-sysctl.rst",
)
def ports_exhausted(observation: Observation) -> Finding | None:
    """A connection could not be opened because every local port was in use (EADDRNOTAVAIL).

    The client then waits for its own ports, and the server is measured at what is left.
    """
    return ports_exhausted.judge(
        observation.result.ports_exhausted,
        cure="kept" if observation.load.keep_alive else "closed",
        clients=observation.load.concurrency,
    )


@Declaration(
    id="descriptors-exhausted",
    number=20,
    title="descriptors exhausted",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(invalidates=0),
    seen="{value:count} connections could not be opened: the load engine had no file descriptor left",
    remedy=f"{MORE_FILES}; or {LOWER_CONCURRENCY}",
    source="socket(2), EMFILE and ENFILE; getrlimit(2), RLIMIT_NOFILE",
)
def descriptors_exhausted(observation: Observation) -> Finding | None:
    """A connection could not be opened because a limit on open files was reached (EMFILE, ENFILE)."""
    return descriptors_exhausted.judge(observation.result.files_exhausted, clients=observation.load.concurrency)
