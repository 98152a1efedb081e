"""Was each request sent once, and did the app itself answer it?"""

from __future__ import annotations

from ..base.numbers import percent
from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation

__all__ = ["hidden_retries", "retries"]

_SHARE = 0.01
_MISSING = 0.25


@Declaration(
    id="retries",
    number=30,
    title="retries",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.001),
    unit=Unit.SHARE,
    of="of requests",
    seen="{again:count} requests were sent again after their connection was closed under them",
    remedy="a longer keep-alive timeout of the server; or {knob.close}",
    source="RFC 9112 sections 9.3.1 and 9.5",
)
def retries(observation: Observation) -> Finding | None:
    """The engine sent requests again because the server closed their connection.

    Each counts once, with the time both took. It is what browsers do, and a sign that a server closes connections
    while they are in use.
    """
    again = observation.result.retried
    return retries.judge(again / max(1, observation.tried), again=again)


@Declaration(
    id="hidden-retries",
    number=30,
    title="hidden retries",
    made=(Made.SLICE,),
    effects=(Effect.INVALIDATES,),
    threshold="as many as the client sent, give or take {doubt:count}",
    rule=f"2·C and {percent(_SHARE)} more, 2·C and {percent(_MISSING)} less",
    seen={
        "more": "the app got {extra:count} more requests than the client sent ({share:percent})",
        "fewer": "the app got only {value:count} requests for {answers:count} right answers",
    },
    remedy={
        "more": "switch retries off in the front end, and see in its log which requests fail",
        "fewer": "a cache answers instead of the app: switch it off, or declare it (cache=on)",
    },
    source="RFC 9110 section 9.2.2",
)
def hidden_retries(observation: Observation) -> Finding | None:
    """The app counted more requests than the client sent (something retries), or far fewer (a cache answers).

    A front end that asks a second worker when the first one fails makes its errors vanish and the app work twice.
    One that answers a quarter of the requests by itself is a cache. The app's count is its own, one number per
    process of a Python host, so apps in Ruby and plain files have none. More is too much beyond what may
    be under way at both ends (twice the connections), and what passes between the two moments of looking.
    """
    if observation.served is None:
        return None
    counts = observation.result.counts
    sent = counts.scheduled - counts.unsent + observation.result.retried
    doubt = 2 * observation.load.concurrency + 2 * observation.served_apart_s * observation.result.throughput_per_s
    declared = observation.stack is not None and observation.stack.keeps_answers
    if observation.served > sent + doubt + _SHARE * sent:
        case = "more"
    elif observation.served < counts.ok * (1 - _MISSING) - doubt and not declared:
        case = "fewer"
    else:
        return None
    return hidden_retries.finding(
        value=observation.served,
        limit=sent,
        case=case,
        cure=case,
        doubt=doubt + _SHARE * sent,
        extra=observation.served - sent,
        share=(observation.served - sent) / max(1, sent),
        answers=counts.ok,
    )
