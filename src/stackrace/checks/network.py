"""Did the kernel lose connections or packets on the way?"""

from __future__ import annotations

from ..model.verdict import Effect, Finding
from .judge import count, judge, percent
from .observation import Observation

__all__ = ["latency_lumps", "listen_overflows", "retransmits", "syn_retransmits"]

_LUMPS_S = (1.0, 3.0, 7.0)
"""When a connection comes about whose first packets were lost: the timer starts at one second and doubles."""
_LUMP_WIDTH_S = 0.2
_LEAST_LUMP = 3


def listen_overflows(seen: Observation) -> Finding | None:
    """A full accept queue lost connections: any warns, more than 0.1 % of those opened invalidates.

    The client tries again after one, three, seven seconds: what is measured then is that timer. The counter
    is that of the whole network namespace; connections are counted where they were accepted, so that those
    from one hop to the next are among them.

    Source: listen(2); RFC 6298 section 2 for the initial timer of one second; ListenOverflows in netstat(8).
    """
    lost = seen.machine.listen_overflows
    opened = max(seen.machine.accepted, seen.result.connections_opened) + lost
    share = lost / opened if opened else 0.0
    return judge(
        "listen overflows",
        share,
        warns=0.0,
        invalidates=0.001,
        seen=f"a full accept queue lost {count(lost)} connections, {percent(share)} of those opened",
        remedy=_queue_remedy(seen),
    )


def _queue_remedy(seen: Observation) -> str:
    longer = "raise the server's backlog and net.core.somaxconn, which bounds it"
    if seen.load.keep_alive:
        return f"{longer}; or lower {seen.words.concurrency} ({seen.load.concurrency})"
    return f"{longer}; or {seen.words.keep}, so that connections are not opened per request"


def syn_retransmits(seen: Observation) -> Finding | None:
    """An attempt to connect had to be repeated: some request waited a second or more for its connection.

    Source: RFC 6298; TCPSynRetrans in /proc/net/netstat, which counts for the whole network namespace.
    """
    repeated = seen.machine.syn_retransmits
    return judge(
        "SYN retransmits",
        repeated,
        warns=0,
        seen=f"{count(repeated)} attempts to connect were repeated after a second or more",
        remedy=_queue_remedy(seen),
        unit=count,
    )


def latency_lumps(seen: Observation) -> Finding | None:
    """Latencies heap up just above one, three or seven seconds: somewhere connections had to be tried again.

    The timer of a lost SYN runs for one second and doubles, so such a request takes its usual time and 1, 3 or 7 s.
    It shows even where the kernel that waited is another machine's. A lump is at least three requests within 0.2 s
    above the mark, and four times as many as within 0.2 s below it; a server whose median is itself near a second
    can have none. Requests that were cut off or unfinished, of which only a lower bound is known, do not count.

    Source: RFC 6298 section 2 for the initial timer of one second, and 5.5 for its doubling.
    """
    lumps = {mark_s: size for mark_s in _LUMPS_S if (size := _lump(seen, mark_s))}
    if not lumps:
        return None
    return Finding(
        check="latency lumps",
        effect=Effect.WARNS,
        seen="; ".join(f"{count(size)} requests took a little over {mark_s:g} s" for mark_s, size in lumps.items())
        + ": the time after which a lost attempt to connect is repeated",
        threshold=f"fewer than {_LEAST_LUMP}",
        remedy=_queue_remedy(seen),
    )


def _lump(seen: Observation, mark_s: float) -> int:
    """Return how many latencies heap up above ``mark_s``, 0 when it is no heap."""
    if seen.result.latency.p50 > _LUMP_WIDTH_S:
        return 0
    above = sum(size for value_s, size in seen.slow if mark_s <= value_s < mark_s + _LUMP_WIDTH_S)
    below = sum(size for value_s, size in seen.slow if mark_s - _LUMP_WIDTH_S <= value_s < mark_s)
    return above if above >= max(_LEAST_LUMP, 4 * below) else 0


def retransmits(seen: Observation) -> Finding | None:
    """More than one segment in 1000 was sent again, connection attempts left out.

    Single ones are the ordinary end of connections whose process was busy. Loopback loses nothing, so on it many
    mean that a receiver did not get to read. Other traffic of the machine counts too: no more than a warning.

    Source: RFC 2012, tcpRetransSegs and tcpOutSegs.
    """
    again = max(0, seen.machine.retransmits - seen.machine.syn_retransmits)
    share = again / seen.machine.segments_sent if seen.machine.segments_sent else 0.0
    return judge(
        "retransmits",
        share,
        warns=0.001,
        seen=f"{count(again)} TCP segments were sent again, {percent(share)} of all",
        remedy=f"the {seen.words.server} did not get to read its sockets in time: fewer workers, or more cores",
    )
