"""Little's law: every connection of a closed loop is waiting for an answer all the time, or someone idles."""

from __future__ import annotations

from ..model.verdict import Finding
from .judge import judge, percent
from .observation import Observation

__all__ = ["dead_time"]


def dead_time(seen: Observation) -> Finding | None:
    """Connections spent over 2 % (warns) or 5 % (invalidates) of the time with no request under way.

    In a closed loop C = X·R̄: concurrency is throughput times mean latency. 1 − X·R̄/C is the share of time
    in which connections had nothing to do: the engine was late, so the server saw less than C clients. The
    engine counts a request as under way from when its connection turns to it, opening included, and up to the
    slice's end if it is not answered then; so neither keep-alive off nor a slow app raises the figure.

    A slice that is bounded by a number of requests has a tail in which connections run out of work one after
    the other; p99 bounds its length, and its share is taken off. Connections rest after a failure: with
    failed or timed-out requests the check is silent, others speak then. In an open loop, and between the pages of
    a visitor who thinks, they rest by design.

    Source: J. D. C. Little, "A proof for the queuing formula L = λW", Operations Research 9 (1961) 383–387.
    """
    result = seen.result
    if seen.load.is_open or seen.pauses:
        return None
    if result.counts.timed_out or sum(result.counts.failed.values()) or result.duration_s <= 0:
        return None
    tail = 0.0 if seen.load.requests is None else result.latency.p99 / result.duration_s
    share = result.dead_time - tail
    return judge(
        "dead time",
        share,
        warns=0.02,
        invalidates=0.05,
        seen=f"connections had no request under way during {percent(share)} of the {seen.words.span}: "
        "the server saw fewer clients than claimed",
        remedy=seen.words.own_core
        if seen.cores.shared
        else f"lower {seen.words.concurrency}, or give the load engine more cores",
    )
