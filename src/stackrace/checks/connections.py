"""Were there as many connections as claimed, were they kept, and did each get its turn?"""

from __future__ import annotations

from ..model.verdict import Effect, Finding
from .judge import count, judge, percent
from .keep_alive import why_closed
from .observation import Observation

__all__ = ["close_ignored", "established", "fairness", "reconnects"]

_FEW_RECONNECTS = 0.001
_ENOUGH_PER_CONNECTION = 20


def established(seen: Observation) -> Finding | None:
    """Fewer connections stood at the same time than the load claims.

    A figure for 250 clients that was got with 200 is a figure for 200. Only kept connections can be held to
    this: with keep-alive off, or a server that closes, some are always being opened. A load of fewer requests
    than connections needs no more connections than requests, an open loop no more than it has use for.

    Source: Schroeder et al., NSDI 2006: in a closed system the number of clients is the load.
    """
    if not _are_kept(seen) or seen.load.is_open or _reconnect_share(seen) > _FEW_RECONNECTS:
        return None
    claimed = min(seen.load.concurrency, seen.result.counts.scheduled)
    if seen.result.established_peak >= claimed:
        return None
    overflowed = seen.machine.listen_overflows or seen.machine.syn_retransmits
    return Finding(
        check="established connections",
        effect=Effect.INVALIDATES,
        seen=f"at most {count(seen.result.established_peak)} connections stood at the same time",
        threshold=f"exactly {count(claimed)}",
        remedy="raise the server's backlog and net.core.somaxconn: the accept queue overflowed"
        if overflowed
        else f"raise the server's limit of connections, or lower {seen.words.concurrency} to "
        f"{max(1, seen.result.established_peak)}",
    )


def fairness(seen: Observation) -> Finding | None:
    """Jain's index over the connections is below 0.8: some got far more answers than others.

    Mean and quantiles then describe the favoured connections. With m requests per connection mere chance
    brings the index down to about m/(m + 1), so below 20 the check is silent, as it is in an open loop, which
    takes the connections it needs.

    Source: R. Jain, D. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for resource
    allocation in shared computer systems", DEC-TR-301, 1984.
    """
    few = seen.answered < _ENOUGH_PER_CONNECTION * seen.load.concurrency
    if few or seen.load.is_open or seen.result.fairness >= 0.8:
        return None
    return Finding(
        check="fairness",
        effect=Effect.WARNS,
        seen=f"connections were served unevenly: Jain's index {seen.result.fairness:.2f}",
        threshold="at least 0.8",
        remedy="workers hold on to some connections and starve others: as many threads as "
        f"{seen.words.concurrency} ({seen.load.concurrency}), an asynchronous worker, "
        "or a front end that spreads the requests"
        if seen.load.keep_alive
        else "the accept queue is served unevenly: look at the server's backlog and its way of accepting",
    )


def reconnects(seen: Observation) -> Finding | None:
    """Keep-alive was asked for, but over one in a thousand answers ended the connection.

    Latencies then contain connecting, and stacks that keep connections are compared with one that does not.
    Some servers never keep them: that is a property of the stack, so it only warns.

    Source: RFC 9112 section 9.3: persistence is the default of HTTP/1.1, and the server's to refuse.
    """
    share = _reconnect_share(seen)
    if not seen.load.keep_alive:
        return None
    return judge(
        "reconnects",
        share,
        warns=_FEW_RECONNECTS,
        seen=f"after {percent(share)} of the answers the server closed a connection that was to be kept",
        remedy=why_closed(seen.stack, seen.words),
    )


def close_ignored(seen: Observation) -> Finding | None:
    """Keep-alive was off, yet more than 1 % of the answers came over a connection used before.

    Source: RFC 9112 section 9.6: ``Connection: close`` is the last request on its connection.
    """
    if seen.load.keep_alive or not seen.answered:
        return None
    reused = 1 - seen.result.connections_opened / seen.answered
    return judge(
        "close ignored",
        reused,
        invalidates=0.01,
        seen=f"{percent(reused)} of the answers came over a connection that should have been closed",
        remedy=f"{seen.words.keep} if connections are to be kept; else please report this",
    )


def _are_kept(seen: Observation) -> bool:
    return seen.load.keep_alive and seen.load.requests_per_connection is None


def _reconnect_share(seen: Observation) -> float:
    return seen.result.reconnects / max(1, seen.answered)
