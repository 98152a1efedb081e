"""Checks that the app itself answers each request once: no cache answers, and nothing retries.

A cache that the stack itself declares (``SERVER:cache=on``) is part of the race, and no finding.
"""

from __future__ import annotations

from ..base.numbers import percent
from ..base.verdict import Effect, Finding
from .declaration import Limits, on_slice, on_slice_and_run
from .observation import Observation

_CACHE_BETWEEN = "a cache answers between client and server: switch it off, or load the server behind it"


@on_slice_and_run(
    id="nonces-lost",
    number=29,
    limits=Limits(invalidates=0),
    seen="{value:count} answers did not repeat their request's own nonce",
    remedy=f"does the app repeat it at all? If so, {_CACHE_BETWEEN}",
    source="RFC 9111 section 2",
)
def _nonces_lost(observation: Observation) -> Finding | None:
    """Answers did not repeat their request's unique number.

    An answer that was made for another request cannot contain it, whatever its headers say.
    """
    return None if _keeps_answers(observation) else _nonces_lost.judge(observation.result.nonces_lost)


@on_slice_and_run(
    id="cached-answers",
    number=29,
    limits=Limits(invalidates=0),
    seen="{value:count} answers came from a cache, according to their Age or X-Cache header",
    remedy=_CACHE_BETWEEN,
    source="RFC 9111 section 5.1",
)
def _cached_answers(observation: Observation) -> Finding | None:
    """Answers came from a cache, according to their headers (Age, X-Cache).

    A stack that answers from a cache does not run the app, so it is not compared with stacks that do.
    """
    return None if _keeps_answers(observation) else _cached_answers.judge(observation.result.cached_answers)


@on_slice_and_run(
    id="stale-dates",
    number=29,
    limits=Limits(warns=0.0, invalidates=0.001),
    of="of answers",
    seen="{stale:count} answers ({value:percent}) had a Date more than two seconds before their request",
    remedy=f"does the server's clock or event loop lag? If not, {_CACHE_BETWEEN}",
    source="RFC 9110 section 6.6.1",
)
def _stale_dates(observation: Observation) -> Finding | None:
    """Answers had a Date more than two seconds before their request.

    Servers stamp an answer when they make it, or when they begin on its request; some stamp only once a second. An
    answer that is older than its request was made for another request.
    """
    if _keeps_answers(observation):
        return None
    stale = observation.result.stale_dates
    return _stale_dates.judge(stale / max(1, observation.answered), stale=stale)


def _keeps_answers(observation: Observation) -> bool:
    """Return True if a hop of the stack declares that it caches answers."""
    return observation.stack is not None and observation.stack.keeps_answers


_SHARE = 0.01
_MISSING = 0.25


@on_slice_and_run(
    id="retries",
    number=30,
    limits=Limits(warns=0.001),
    of="of requests",
    seen="{again:count} requests were sent again after their connection was closed under them",
    remedy="a longer keep-alive timeout of the server; or {knob.close}",
    source="RFC 9112 sections 9.3.1 and 9.5",
)
def _retries(observation: Observation) -> Finding | None:
    """The engine sent requests again because the server closed their connection.

    Each such request counts once, with the time of both attempts. Browsers repeat requests, too. Many repeated
    requests are a sign that a server closes connections while they are in use.
    """
    again = observation.result.retried
    return _retries.judge(again / max(1, observation.tried), again=again)


@on_slice(
    id="hidden-retries",
    number=30,
    effects=(Effect.INVALIDATES,),
    threshold="as many as the client sent, give or take {doubt:count}",
    rule=f"2·C and {percent(_SHARE)} more, 2·C and {percent(_MISSING)} less",
    seen={
        "more": "the app got {extra:count} more requests than the client sent ({share:percent})",
        "fewer": "the app got only {value:count} requests for {answers:count} right answers",
    },
    remedy={
        "more": "switch retries off in the front end, and see in its log which requests fail",
        "alone": "race again: the server may have answered an earlier load still",
        "fewer": "a cache answers instead of the app: switch it off, or declare it (cache=on)",
    },
    source="RFC 9110 section 9.2.2",
)
def _hidden_retries(observation: Observation) -> Finding | None:
    """The app counted more requests than the client sent (something retries), or far fewer (a cache answers).

    A front end that asks a second worker when the first one fails makes its errors vanish and the app work twice. A
    front end that answers a quarter of the requests by itself is a cache. The app counts by itself, one number per
    process of a Python host, so apps in Ruby and plain files have no count. The limit leaves room for requests
    under way at both ends (twice the connections, idle ones included), and for those between the two readings.
    """
    if observation.served is None:
        return None
    counts = observation.result.counts
    sent = counts.scheduled - counts.unsent + observation.result.retried
    clients = observation.load.concurrency + observation.load.idle
    doubt = 2 * clients + 2 * observation.count_offset_s * observation.result.throughput_per_s
    declared = observation.stack is not None and observation.stack.keeps_answers
    if observation.served > sent + doubt + _SHARE * sent:
        case = "more"
    elif observation.served < counts.ok * (1 - _MISSING) - doubt and not declared:
        case = "fewer"
    else:
        return None
    return _hidden_retries.finding(
        value=observation.served,
        limit=sent,
        case=case,
        cure="alone"
        if case == "more" and observation.stack is not None and len(observation.stack.hops) == 1
        else case,
        doubt=doubt + _SHARE * sent,
        extra=observation.served - sent,
        share=(observation.served - sent) / max(1, sent),
        answers=counts.ok,
    )
