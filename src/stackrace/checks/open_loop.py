"""Did the requests of an open loop fall due, go out and come back at the rate that was asked for?"""

from __future__ import annotations

import math

from ..model.load import LoadResult
from ..model.units import DURATION
from ..model.verdict import Effect, Finding
from .judge import count, judge, percent
from .observation import Observation

__all__ = ["lag", "overload", "pool_limit"]

_LEAST_LAG_S = 100e-6
_LAG_SHARE = 0.05


def lag(seen: Observation) -> Finding | None:
    """One in a hundred requests went out later than intended by over 100 µs, or by over 5 % of the median latency.

    Latency counts from the intended time, so the delay is in it, but it is the engine's, not the server's. Where
    all connections were taken it is not the engine's either, and `pool_limit` speaks.

    Source: G. Tene, "How NOT to measure latency", 2013; Schroeder et al., NSDI 2006, on open systems.
    """
    late = seen.result.lag
    if not seen.load.is_open or late is None or not late.count or seen.result.pool_waits:
        return None
    limit_s = max(_LEAST_LAG_S, _LAG_SHARE * seen.result.latency.p50)
    return judge(
        "lag",
        late.p99,
        invalidates=limit_s,
        seen=f"1 % of the requests went out more than {DURATION.format(late.p99)} late: the engine was busy or had "
        "no core, and latencies contain it",
        remedy=seen.words.own_core if seen.cores.shared else f"{seen.words.another_core}; or a lower rate",
        unit=DURATION.format,
    )


def overload(seen: Observation) -> Finding | None:
    """More than 0.5 % of what was offered was never sent, or piled up unanswered.

    Then the latencies are those of a queue that grows as long as the load lasts: they say how long it lasted, not
    how fast the server is. What a steady system has under way at any moment is no pile, so only what the second
    half added to it counts, less three standard deviations of a Poisson number.

    Source: J. D. C. Little, Operations Research 9 (1961), on what a steady queue holds; M. Harchol-Balter,
    "Performance Modeling and Design of Computer Systems", 2013, chapter 2, on open systems and stability.
    """
    if not seen.load.is_open or not seen.result.counts.scheduled:
        return None
    missing = seen.result.counts.unsent + _piled_up(seen)
    share = missing / seen.result.counts.scheduled
    rate = seen.load.rate_per_s or 0.0
    return judge(
        "overload",
        share,
        invalidates=0.005,
        seen=f"{count(missing)} of {count(seen.result.counts.scheduled)} requests ({percent(share)}) were never "
        f"sent or piled up: the {seen.words.server} does not keep up with {rate:g}/s, so latencies tell how long "
        f"the {seen.words.span} lasted",
        remedy=f"a rate below what it answered, {seen.result.throughput_per_s:.4g}/s",
    )


def pool_limit(seen: Observation) -> Finding | None:
    """Requests of an open loop fell due while all connections it may have were taken: any warns.

    They waited for one, which is in their latency, as users wait who find a server full. Whether that limit is the
    server's or only ours is for the user to say.

    Source: Schroeder et al., NSDI 2006: with its users limited an open system turns into a closed one.
    """
    waits = seen.result.pool_waits
    if not seen.load.is_open or not waits:
        return None
    return Finding(
        check="pool limit",
        effect=Effect.WARNS,
        seen=f"{count(waits)} requests fell due while all {count(seen.load.concurrency)} connections were taken, "
        "and waited for one",
        threshold="none",
        remedy=f"raise {seen.words.concurrency}, which in an open loop is the most connections there may be",
    )


def _piled_up(seen: Observation) -> float:
    """Return by how many requests the queue grew in the second half of the time in which requests fell due.

    What was answered after that time was outstanding at its end, be it under way or waiting for a connection.
    """
    due_s = _due_s(seen, seen.result)
    bins = [one for one in seen.result.series if one.start_s < due_s]
    if len(bins) < 2:
        return 0.0
    late = sum(one.ok + one.errors for one in seen.result.series if one.start_s >= due_s)
    before, after = bins[len(bins) // 2 - 1].in_flight, max(bins[-1].in_flight, late)
    return max(0.0, after - before - 3 * math.sqrt(after))


def _due_s(seen: Observation, result: LoadResult) -> float:
    if seen.load.requests is None or not seen.load.rate_per_s:
        return result.duration_s
    return min(result.duration_s, seen.load.requests / seen.load.rate_per_s)
