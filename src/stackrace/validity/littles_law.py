"""Little's law: every connection of a closed loop is waiting for an answer all the time, or someone idles."""

from __future__ import annotations

from ..base.verdict import Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation
from .texts import OWN_CORE

__all__ = ["dead_time"]


@Declaration(
    id="dead-time",
    number=4,
    title="dead time",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.02, invalidates=0.05),
    unit=Unit.SHARE,
    of="of the time",
    seen="connections had no request under way during {value:percent} of the {knob.span}: "
    "the server saw fewer clients than asked for",
    remedy={"shared": OWN_CORE, "apart": "lower {knob.concurrency}, or give the load engine more cores"},
    source="J. D. C. Little, Operations Research 9 (1961) 383–387",
)
def dead_time(observation: Observation) -> Finding | None:
    """Connections of a closed loop had no request under way for some of the time.

    In a closed loop C = X·R̄: concurrency is throughput times mean latency. 1 − X·R̄/C is the share of time
    in which connections had nothing to do: the engine was late, so the server saw less than C clients. The
    engine counts a request as under way from when its connection turns to it, opening included, and up to the
    slice's end if it is not answered then; so neither keep-alive off nor a slow app raises the figure.

    A slice that is bounded by a number of requests has a tail in which connections run out of work one after
    the other; p99 bounds its length, and its share is taken off. Connections rest after a failure: with
    failed or timed-out requests the check is silent, others speak then. In an open loop, and between the pages of
    a visitor who thinks, they rest by design.
    """
    result = observation.result
    if observation.load.is_open or observation.pauses:
        return None
    if result.counts.timed_out or sum(result.counts.failed.values()) or result.duration_s <= 0:
        return None
    tail = 0.0 if observation.load.requests is None else result.latency.p99 / result.duration_s
    share = result.dead_time - tail
    return dead_time.judge(share, cure="shared" if observation.cores.shared else "apart")
