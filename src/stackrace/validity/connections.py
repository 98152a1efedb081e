"""Checks of connections: opened as asked, none lost by the kernel, kept alive, and served evenly."""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Limits, on_slice, on_slice_and_run
from .observation import Observation

_ENOUGH_PER_CONNECTION = 20

LOWER_CONCURRENCY = "lower {knob.concurrency} ({clients})"
MORE_PORTS = "sysctl net.ipv4.ip_local_port_range='1024 65535' net.ipv4.tcp_tw_reuse=2"
MORE_FILES = "ulimit -n $(ulimit -Hn), or more by nofile in /etc/security/limits.conf"
_BACKLOG = "raise the server's backlog to {clients}, and net.core.somaxconn if that is lower"
_QUEUES = {
    "kept": f"{_BACKLOG}; or {LOWER_CONCURRENCY}",
    "closed": f"{_BACKLOG}; or {{knob.keep}}, so that connections are not opened per request",
}
"""Remedies for lost connections: if connections are kept, and if they are closed after each answer."""


@on_slice_and_run(
    id="established-connections",
    number=21,
    effects=(Effect.INVALIDATES,),
    threshold="exactly {limit:count}",
    rule="as many as asked for",
    seen="at most {value:count} connections were open at the same time",
    remedy={
        "queue": _BACKLOG,
        "server": "raise the server's limit of connections, or lower {knob.concurrency} to {lower}",
    },
    source="Schroeder et al., NSDI 2006",
)
def _established(observation: Observation) -> Finding | None:
    """Fewer connections were open at the same time than the load asks for.

    A figure for 250 clients that was measured with 200 is a figure for 200. The check needs kept connections: with
    keep-alive off, or a server that closes, some connections are always being opened. A load of fewer requests than
    connections needs no more connections than requests, and an open loop only the connections that it uses.
    """
    few_reconnects = _reconnects.limits.warns or 0.0
    if (
        not _keeps_connections(observation)
        or observation.load.is_open
        or _reconnect_share(observation) > few_reconnects
    ):
        return None
    claimed = min(observation.load.concurrency, observation.result.counts.scheduled)
    peak = observation.result.established_peak
    if peak >= claimed:
        return None
    overflowed = observation.machine.listen_overflows or observation.machine.syn_retransmits
    return _established.finding(
        value=peak,
        limit=claimed,
        cure="queue" if overflowed else "server",
        lower=max(1, peak),
        clients=observation.load.concurrency,
    )


@on_slice_and_run(
    id="fairness",
    number=22,
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
def _fairness(observation: Observation) -> Finding | None:
    """Some connections got far more answers than others, by Jain's index."""
    few = observation.answered < _ENOUGH_PER_CONNECTION * observation.load.concurrency
    if few or observation.load.is_open:
        return None
    return _fairness.judge(
        observation.result.fairness,
        cure="kept" if observation.load.keep_alive else "closed",
        clients=observation.load.concurrency,
    )


@on_slice_and_run(
    id="reconnects",
    number=23,
    limits=Limits(warns=0.001),
    of="of answers",
    seen="the server closed the connection after {value:percent} of the answers, although keep-alive is on",
    remedy={
        "server": "does the app send Connection: close, or are {server}'s workers recycled after some requests? "
        "If it should stay so: {knob.close}",
        "design": "{reason}; or put a front end before it; or {knob.close}",
    },
    source="RFC 9112 section 9.3",
)
def _reconnects(observation: Observation) -> Finding | None:
    """Keep-alive is on, but the server closed connections after an answer.

    Latencies then contain connecting, and stacks that keep connections are compared with one that does not.
    Some servers never keep them: that is a property of the stack, so it only warns.
    """
    if not observation.load.keep_alive:
        return None
    front = observation.stack.hops[0] if observation.stack else None
    reason = front.closes_because if front else ""
    return _reconnects.judge(
        _reconnect_share(observation),
        cure="design" if reason else "server",
        reason=reason,
        server=front.server if front else "the server",
    )


@on_slice_and_run(
    id="close-ignored",
    number=24,
    limits=Limits(invalidates=0.01),
    of="of answers",
    seen="{value:percent} of the answers came over a connection that should have been closed",
    remedy="{knob.keep} if connections are to be kept; else please report this",
    source="RFC 9112 section 9.6",
)
def _close_ignored(observation: Observation) -> Finding | None:
    """Keep-alive is off, but answers came over a connection that was used before."""
    if observation.load.keep_alive or not observation.answered:
        return None
    return _close_ignored.judge(1 - observation.result.connections_opened / observation.answered)


def _keeps_connections(observation: Observation) -> bool:
    return observation.load.keep_alive and observation.load.requests_per_connection is None


def _reconnect_share(observation: Observation) -> float:
    return observation.result.reconnects / max(1, observation.answered)


@on_slice_and_run(
    id="ports-exhausted",
    number=18,
    limits=Limits(invalidates=0),
    seen="{value:count} connections could not be opened: the load engine had no local port left",
    remedy={"kept": f"{MORE_PORTS}; or {LOWER_CONCURRENCY}", "closed": f"{{knob.keep}}; or {MORE_PORTS}"},
    source="connect(2), EADDRNOTAVAIL; Documentation/networking/ip-sysctl.rst",
)
def _ports_exhausted(observation: Observation) -> Finding | None:
    """A connection could not be opened because every local port was in use (EADDRNOTAVAIL).

    The client then waits for its own ports, and the server looks slower than it is.
    """
    return _ports_exhausted.judge(
        observation.result.ports_exhausted,
        cure="kept" if observation.load.keep_alive else "closed",
        clients=observation.load.concurrency,
    )


@on_slice_and_run(
    id="descriptors-exhausted",
    number=20,
    limits=Limits(invalidates=0),
    seen="{value:count} connections could not be opened: the load engine had no file descriptor left",
    remedy=f"{MORE_FILES}; or {LOWER_CONCURRENCY}",
    source="socket(2), EMFILE and ENFILE; getrlimit(2), RLIMIT_NOFILE",
)
def _descriptors_exhausted(observation: Observation) -> Finding | None:
    """A connection could not be opened because a limit on open files was reached (EMFILE, ENFILE)."""
    return _descriptors_exhausted.judge(observation.result.files_exhausted, clients=observation.load.concurrency)


_LUMPS_S = (1.0, 3.0, 7.0)
"""Seconds to connect if the first packets were lost: the timer starts at one second and doubles."""
_LUMP_WIDTH_S = 0.2
_LEAST_LUMP = 3


@on_slice_and_run(
    id="listen-overflows",
    number=15,
    limits=Limits(warns=0.0, invalidates=0.001),
    of="of connections",
    seen="a full accept queue lost {lost:count} connections, {value:percent} of those opened",
    remedy=_QUEUES,
    source="listen(2); RFC 6298 section 2; ListenOverflows in netstat(8)",
)
def _listen_overflows(observation: Observation) -> Finding | None:
    """A full accept queue lost connections.

    The client tries again after one, three, seven seconds, so latencies show that timer. The kernel counts for the
    whole network namespace. Connections are counted where they are accepted, connections between hops included.
    """
    lost = observation.machine.listen_overflows
    opened = max(observation.machine.accepted, observation.result.connections_opened) + lost
    return _listen_overflows.judge(
        lost / opened if opened else 0.0,
        cure=_keep_alive_case(observation),
        lost=lost,
        clients=observation.load.concurrency,
    )


def _keep_alive_case(observation: Observation) -> str:
    return "kept" if observation.load.keep_alive else "closed"


@on_slice_and_run(
    id="syn-retransmits",
    number=16,
    title="SYN retransmits",
    limits=Limits(warns=0),
    seen="{value:count} attempts to connect were repeated after a second or more",
    remedy=_QUEUES,
    source="RFC 6298; TCPSynRetrans in /proc/net/netstat",
)
def _syn_retransmits(observation: Observation) -> Finding | None:
    """An attempt to connect was repeated, so a request waited at least a second.

    The kernel counts for the whole network namespace.
    """
    return _syn_retransmits.judge(
        observation.machine.syn_retransmits,
        cure=_keep_alive_case(observation),
        clients=observation.load.concurrency,
    )


@on_slice_and_run(
    id="latency-lumps",
    number=16,
    effects=(Effect.WARNS,),
    threshold=f"fewer than {_LEAST_LUMP}",
    rule=f"fewer than {_LEAST_LUMP} at a mark",
    seen="{lumps:lumps}: the time after which a lost attempt to connect is repeated",
    remedy=_QUEUES,
    source="RFC 6298 sections 2 and 5.5",
)
def _latency_lumps(observation: Observation) -> Finding | None:
    """Many latencies are just above 1, 3 or 7 s: attempts to connect were repeated.

    The timer of a lost SYN runs for one second and doubles, so such a request takes its usual time and 1, 3 or 7 s.
    Such latencies show even if the kernel of another machine waited. A lump is at least three requests within 0.2 s
    above the mark, and four times as many as within 0.2 s below it. A server whose median is itself over 0.2 s has
    no lumps. Requests that were cut off or unfinished do not count, since only a lower bound is known.
    """
    lumps = {f"{mark_s:g}": size for mark_s in _LUMPS_S if (size := _lump(observation, mark_s))}
    if not lumps:
        return None
    return _latency_lumps.finding(
        value=max(lumps.values()),
        limit=_LEAST_LUMP,
        cure=_keep_alive_case(observation),
        lumps=lumps,
        clients=observation.load.concurrency,
    )


def _lump(observation: Observation, mark_s: float) -> int:
    """Return the number of latencies in the lump above ``mark_s``; 0 if there is no lump."""
    if observation.result.latency.p50 > _LUMP_WIDTH_S:
        return 0
    above = sum(size for value_s, size in observation.slow if mark_s <= value_s < mark_s + _LUMP_WIDTH_S)
    below = sum(size for value_s, size in observation.slow if mark_s - _LUMP_WIDTH_S <= value_s < mark_s)
    return above if above >= max(_LEAST_LUMP, 4 * below) else 0


_DELAY_S = (0.039, 0.05)
"""Range in seconds of answers that wait for a delayed acknowledgement: Linux waits 40 ms, TCP_DELACK_MIN."""
_MOSTLY = 0.5


@on_slice(
    id="delayed-acks",
    number=17,
    title="delayed acknowledgements",
    limits=Limits(warns=_MOSTLY),
    of="of answers",
    seen="half of the answers took {p50_ms:.0f} ms or more, and as many as {value:percent} of them waited for an "
    "acknowledgement that is sent after 40 ms",
    remedy="have the {knob.server} write headers and body at once, or set TCP_NODELAY",
    source="RFC 1122 section 4.2.3.2; RFC 896",
)
def delayed_acks(observation: Observation) -> Finding | None:
    """The second part of each answer waits 40 ms for the first one's acknowledgement.

    The server holds a small part back while another is unacknowledged (Nagle's algorithm). The client waits for the
    rest, so it has no data to send an acknowledgement with. The CPU is idle meanwhile. The kernel counts delayed
    acknowledgements for the whole network namespace, also those of requests on which an app works as long. So the
    check reports only if answers take as long as the timer, and the page by itself half of that at most.
    """
    p50_s, (low_s, high_s) = observation.result.latency.p50, _DELAY_S
    if observation.pauses or not observation.answered:
        return None
    if not low_s <= p50_s <= high_s or not 0 < observation.page_s <= low_s / 2:
        return None
    share = min(observation.machine.delayed_acks / observation.answered, 1.0)
    return delayed_acks.judge(share, p50_ms=1e3 * p50_s)


@on_slice_and_run(
    id="retransmits",
    number=17,
    limits=Limits(warns=0.001),
    of="of segments",
    seen="{again:count} TCP segments were sent again, {value:percent} of all",
    remedy="the {knob.server} did not get to read its sockets in time: fewer workers, or more cores",
    source="RFC 2012, tcpRetransSegs and tcpOutSegs",
)
def _retransmits(observation: Observation) -> Finding | None:
    """TCP segments were sent again (attempts to connect do not count).

    Single segments are sent again when connections end whose process was busy. Loopback loses nothing, so many
    such segments mean that a receiver did not get to read. Other traffic of the machine counts, too, so the check
    only warns.
    """
    again = max(0, observation.machine.retransmits - observation.machine.syn_retransmits)
    return _retransmits.judge(
        again / observation.machine.segments_sent if observation.machine.segments_sent else 0.0, again=again
    )
