"""Where several engines send a load: did all of them, from the agreed moment on, without a stop?"""

from __future__ import annotations

from ..model.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation

__all__ = ["engine_late", "engine_lost", "engine_network", "engine_stalled"]


@Declaration(
    id="engine-lost",
    number=0,
    title="engine lost",
    made=(Made.SLICE,),
    effects=(Effect.INVALIDATES,),
    rule="every engine returns what it recorded",
    threshold="none",
    seen="{engines} of the load engines were lost with what they had recorded",
    remedy="look at the workers' logs on these machines; once they are back, continue with --resume",
)
def engine_lost(observation: Observation) -> Finding | None:
    """A load engine was lost before it had returned what it recorded."""
    lost = [share.name for share in observation.result.engines if share.lost]
    return engine_lost.finding(value=len(lost), limit=0, engines=", ".join(lost)) if lost else None


@Declaration(
    id="engine-late",
    number=0,
    title="engine late",
    made=(Made.SLICE,),
    limits=Limits(invalidates=0.005),
    unit=Unit.SECONDS,
    seen="the engine {engine} began {value:duration} away from the agreed moment",
    remedy="let nothing else run on that machine; a clock that is stepped or slewed shows the same",
    source="Cristian, Probabilistic clock synchronization, 1989",
)
def engine_late(observation: Observation) -> Finding | None:
    """One of several load engines did not begin with the others.

    All are told one moment, each by its own clock. Who begins later leaves the others to load the stack alone.
    """
    shares = [share for share in observation.result.engines if not share.lost]
    if not shares:
        return None
    worst = max(shares, key=lambda share: abs(share.late_s))
    return engine_late.judge(abs(worst.late_s), engine=worst.name)


@Declaration(
    id="engine-stalled",
    number=0,
    title="engine stalled",
    made=(Made.SLICE,),
    limits=Limits(warns=0.05, invalidates=0.2),
    unit=Unit.SECONDS,
    seen="the engine {engine} stood still for {value:duration}; its latencies include this time",
    remedy="let nothing else run on that machine, and do not let it sleep or be moved",
)
def engine_stalled(observation: Observation) -> Finding | None:
    """A load engine on another machine did not run for a while: it was stopped, or its machine was."""
    worst = max(observation.result.engines, key=lambda share: share.stalled_s, default=None)
    return None if worst is None else engine_stalled.judge(worst.stalled_s, engine=worst.name)


@Declaration(
    id="engine-network",
    number=0,
    title="engine network",
    made=(Made.SLICE,),
    limits=Limits(warns=0.001, invalidates=0.01),
    unit=Unit.SHARE,
    of="of segments",
    seen="{engine} sent {value:percent} of its TCP segments again: the network lost them, or is full",
    remedy="use a faster network between engines and stack, or less load; look for a faulty cable or port",
    source="RFC 6298; RFC 2012, tcpRetransSegs and tcpOutSegs",
)
def engine_network(observation: Observation) -> Finding | None:
    """The network between an engine and the stack lost segments, so that requests waited for their repetition.

    A segment is repeated after 200 ms at least, which counts as latency of the stack.
    """
    shares = [share for share in observation.result.engines if share.segments_sent]
    worst = max(shares, key=lambda share: share.retransmits / share.segments_sent, default=None)
    if worst is None:
        return None
    return engine_network.judge(worst.retransmits / worst.segments_sent, engine=worst.name)
