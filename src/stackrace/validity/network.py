"""Did the kernel lose connections or packets on the way?"""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation
from .texts import QUEUES

__all__ = ["latency_lumps", "listen_overflows", "retransmits", "syn_retransmits"]

_LUMPS_S = (1.0, 3.0, 7.0)
"""When a connection comes about whose first packets were lost: the timer starts at one second and doubles."""
_LUMP_WIDTH_S = 0.2
_LEAST_LUMP = 3


@Declaration(
    id="listen-overflows",
    number=15,
    title="listen overflows",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.0, invalidates=0.001),
    unit=Unit.SHARE,
    of="of connections",
    seen="a full accept queue lost {lost:count} connections, {value:percent} of those opened",
    remedy=QUEUES,
    source="listen(2); RFC 6298 section 2; ListenOverflows in netstat(8)",
)
def listen_overflows(observation: Observation) -> Finding | None:
    """A full accept queue lost connections.

    The client tries again after one, three, seven seconds: what is measured then is that timer. The counter
    is that of the whole network namespace; connections are counted where they were accepted, so that those
    from one hop to the next are among them.
    """
    lost = observation.machine.listen_overflows
    opened = max(observation.machine.accepted, observation.result.connections_opened) + lost
    return listen_overflows.judge(
        lost / opened if opened else 0.0, cure=_kept(observation), lost=lost, clients=observation.load.concurrency
    )


def _kept(observation: Observation) -> str:
    return "kept" if observation.load.keep_alive else "closed"


@Declaration(
    id="syn-retransmits",
    number=16,
    title="SYN retransmits",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0),
    seen="{value:count} attempts to connect were repeated after a second or more",
    remedy=QUEUES,
    source="RFC 6298; TCPSynRetrans in /proc/net/netstat",
)
def syn_retransmits(observation: Observation) -> Finding | None:
    """An attempt to connect was repeated, so a request waited at least a second.

    The kernel counts for the whole network namespace.
    """
    return syn_retransmits.judge(
        observation.machine.syn_retransmits, cure=_kept(observation), clients=observation.load.concurrency
    )


@Declaration(
    id="latency-lumps",
    number=16,
    title="latency lumps",
    made=(Made.SLICE, Made.RUN),
    effects=(Effect.WARNS,),
    threshold=f"fewer than {_LEAST_LUMP}",
    rule=f"fewer than {_LEAST_LUMP} at a mark",
    seen="{lumps:lumps}: the time after which a lost attempt to connect is repeated",
    remedy=QUEUES,
    source="RFC 6298 sections 2 and 5.5",
)
def latency_lumps(observation: Observation) -> Finding | None:
    """Many latencies are just above 1, 3 or 7 s: attempts to connect were repeated.

    The timer of a lost SYN runs for one second and doubles, so such a request takes its usual time and 1, 3 or 7 s.
    It shows even where the kernel that waited is another machine's. A lump is at least three requests within 0.2 s
    above the mark, and four times as many as within 0.2 s below it; a server whose median is itself near a second
    can have none. Requests that were cut off or unfinished, of which only a lower bound is known, do not count.
    """
    lumps = {f"{mark_s:g}": size for mark_s in _LUMPS_S if (size := _lump(observation, mark_s))}
    if not lumps:
        return None
    return latency_lumps.finding(
        value=max(lumps.values()),
        limit=_LEAST_LUMP,
        cure=_kept(observation),
        lumps=lumps,
        clients=observation.load.concurrency,
    )


def _lump(observation: Observation, mark_s: float) -> int:
    """Return how many latencies heap up above ``mark_s``, 0 when it is no heap."""
    if observation.result.latency.p50 > _LUMP_WIDTH_S:
        return 0
    above = sum(size for value_s, size in observation.slow if mark_s <= value_s < mark_s + _LUMP_WIDTH_S)
    below = sum(size for value_s, size in observation.slow if mark_s - _LUMP_WIDTH_S <= value_s < mark_s)
    return above if above >= max(_LEAST_LUMP, 4 * below) else 0


@Declaration(
    id="retransmits",
    number=17,
    title="retransmits",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.001),
    unit=Unit.SHARE,
    of="of segments",
    seen="{again:count} TCP segments were sent again, {value:percent} of all",
    remedy="the {knob.server} did not get to read its sockets in time: fewer workers, or more cores",
    source="RFC 2012, tcpRetransSegs and tcpOutSegs",
)
def retransmits(observation: Observation) -> Finding | None:
    """TCP segments were sent again (attempts to connect do not count).

    Single ones are the ordinary end of connections whose process was busy. Loopback loses nothing, so on it many
    mean that a receiver did not get to read. Other traffic of the machine counts too: no more than a warning.
    """
    again = max(0, observation.machine.retransmits - observation.machine.syn_retransmits)
    return retransmits.judge(
        again / observation.machine.segments_sent if observation.machine.segments_sent else 0.0, again=again
    )
