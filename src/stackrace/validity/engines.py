"""Checks of several engines that send one load: all sent it, from the agreed moment on and without a stop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..base.verdict import Effect, Finding, Unit
from .declaration import Limits, on_slice
from .observation import Observation

_TIMEOUT_S = 0.2
"""Shortest retransmission timeout of Linux, TCP_RTO_MIN in include/net/tcp.h."""


@on_slice(
    id="engine-lost",
    effects=(Effect.INVALIDATES,),
    rule="every engine returns what it recorded",
    threshold="none",
    seen="{engines} of the load engines were lost with what they had recorded",
    remedy="look at the workers' logs on these machines; once they are back: stackrace run --resume",
)
def _engine_lost(observation: Observation) -> Finding | None:
    """A load engine was lost before it had returned what it recorded."""
    lost = [share.name for share in observation.result.engines if share.lost]
    return _engine_lost.finding(value=len(lost), limit=0, engines=", ".join(lost)) if lost else None


@on_slice(
    id="engine-late",
    limits=Limits(invalidates=0.005),
    unit=Unit.SECONDS,
    seen="the engine {engine} began {value:duration} away from the agreed moment",
    remedy="let nothing else run on that machine; a clock that is stepped or slewed shows the same",
    source="Cristian, Probabilistic clock synchronization, 1989",
)
def _engine_late(observation: Observation) -> Finding | None:
    """One of several load engines did not begin with the others.

    All start at one moment, each by its own clock. While one is late, the others load the stack alone.
    """
    shares = [share for share in observation.result.engines if not share.lost]
    if not shares:
        return None
    worst = max(shares, key=lambda share: abs(share.late_s))
    return _engine_late.judge(abs(worst.late_s), engine=worst.name)


@on_slice(
    id="engine-stalled",
    limits=Limits(warns=0.05, invalidates=0.2),
    unit=Unit.SECONDS,
    seen="the engine {engine} stood still for {value:duration}; its latencies include this time",
    remedy="let nothing else run on that machine, and do not let it sleep or be moved",
)
def _engine_stalled(observation: Observation) -> Finding | None:
    """A load engine on another machine did not run for a while: it was stopped, or its machine was."""
    worst = max(observation.result.engines, key=lambda share: share.stalled_s, default=None)
    return None if worst is None else _engine_stalled.judge(worst.stalled_s, engine=worst.name)


@on_slice(
    id="engine-network",
    limits=Limits(warns=0.001, invalidates=0.01),
    of="of segments, or of time",
    seen={
        "": "{engine} sent {value:percent} of its TCP segments again: the network lost them, or is full",
        "waited": "TCP waited {waits:count} times for segments that the network lost, {value:percent} of the "
        "connections' time at least: it was cut off for a while, or is full",
    },
    remedy="use a faster network between engines and stack, or less load; look for a faulty cable or port",
    source="RFC 6298; RFC 2012",
)
def _engine_network(observation: Observation) -> Finding | None:
    """The network between an engine and the stack lost segments, so that requests waited for their repetition.

    While an answer is cut off, little is sent, so few segments show the loss. Therefore time counts, too: each
    timeout, on either side, took 200 ms or longer, which is counted as latency of the stack.
    """
    shares = [share for share in observation.result.engines if share.segments_sent]
    worst = max(shares, key=lambda share: share.retransmits / share.segments_sent, default=None)
    if worst is None:
        return None
    again = worst.retransmits / worst.segments_sent
    at_host = max(0, observation.machine.timeouts - observation.machine.syn_retransmits)
    waits = at_host + sum(share.timeouts for share in shares)
    connections_s = observation.load.concurrency * observation.result.duration_s
    waited = waits * _TIMEOUT_S / connections_s if connections_s > 0 else 0.0
    if again >= waited:
        return _engine_network.judge(again, engine=worst.name)
    return _engine_network.judge(waited, case="waited", waits=waits)


@on_slice(
    id="network-full",
    limits=Limits(invalidates=0.8),
    of="of what it carries",
    seen={
        "to engines": "{moved:mib} MiB/s went from {host} to {engines:list}, {value:percent} of what the network "
        "carries there: it was the limit, not the {knob.server}",
        "to host": "{moved:mib} MiB/s went from {engines:list} to {host}, {value:percent} of what the network "
        "carries there: it was the limit, not the {knob.server}",
    },
    remedy="use a faster network, or pages of fewer bytes; or start no engines: a host then sends its own load",
    source="RFC 6349",
)
def _network_full(observation: Observation) -> Finding | None:
    """The slice moved nearly all the bytes that the network between engines and host carries.

    Then every stack is as fast as the network. The bytes of requests and answers are compared with the payload of a
    transfer before the race: of each engine alone, and of all at once. Without such a transfer the check is silent.
    Neither figure has the packets' headers, so a network that is full of small packets may not be noticed.
    """
    fullest = max(_flows(observation), key=lambda flow: flow.share, default=None)
    if fullest is None:
        return None
    return _network_full.judge(
        fullest.share, case=fullest.way, moved=fullest.moved_bytes_per_s, host=fullest.host, engines=fullest.engines
    )


@dataclass(frozen=True, slots=True)
class _Flow:
    """Bytes that moved in one direction between a host and engines, and what the network carries there."""

    way: str
    """Case of the finding: to engines, or to host."""
    host: str
    engines: tuple[str, ...]
    moved_bytes_per_s: float
    carried_bytes_per_s: float

    @property
    def share(self) -> float:
        return self.moved_bytes_per_s / self.carried_bytes_per_s if self.carried_bytes_per_s else 0.0


def _flows(observation: Observation) -> Iterator[_Flow]:
    """Yield the flow of each engine, and of all engines together, in both directions; none if unknown."""
    length_s = observation.result.duration_s
    paths = {path.engine: path for path in observation.network}
    shares = [share for share in observation.result.engines if share.name in paths]
    if not shares or length_s <= 0:
        return
    for share in shares:
        path, one = paths[share.name], (share.name,)
        yield _Flow("to engines", path.host, one, share.bytes_read / length_s, path.engine_takes_bytes_per_s)
        yield _Flow("to host", path.host, one, share.bytes_written / length_s, path.engine_sends_bytes_per_s)
    path, every = paths[shares[0].name], tuple(share.name for share in shares)
    read, written = (sum(each) for each in zip(*((s.bytes_read, s.bytes_written) for s in shares), strict=True))
    yield _Flow("to engines", path.host, every, read / length_s, path.host_sends_bytes_per_s)
    yield _Flow("to host", path.host, every, written / length_s, path.host_takes_bytes_per_s)
