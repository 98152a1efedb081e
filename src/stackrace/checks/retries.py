"""Was each request sent once, and did the app itself answer it?"""

from __future__ import annotations

from ..model.verdict import Effect, Finding
from .judge import count, judge, percent
from .observation import Observation

__all__ = ["hidden_retries", "retries"]

_SHARE = 0.01
_MISSING = 0.25


def retries(seen: Observation) -> Finding | None:
    """The engine sent over 0.1 % of the requests a second time, since their connection was closed as they arrived.

    Each counts once, with the time both took. It is what browsers do, and a sign that a server closes connections
    while they are in use.

    Source: RFC 9112 section 9.3.1, retrying requests; 9.5 on the race between closing and sending.
    """
    again = seen.result.retried
    return judge(
        "retries",
        again / max(1, seen.tried),
        warns=0.001,
        seen=f"{count(again)} requests were sent again after their connection was closed under them",
        remedy=f"a longer keep-alive timeout of the server; or {seen.words.close}",
    )


def hidden_retries(seen: Observation) -> Finding | None:
    """The app was asked more often than the client asked, or far less often: someone between retries, or answers.

    A front end that asks a second worker when the first one fails makes its errors vanish and the app work twice.
    One that answers a quarter of the requests by itself is a cache. The app's count is its own, one number per
    process of a Python host, so apps in Ruby and plain files have none. More is too much beyond what may
    be under way at both ends (twice the connections), what passes between the two moments of looking, and 1 %.

    Source: nginx, ngx_http_proxy_module, proxy_next_upstream; RFC 9110 section 9.2.2 on whose right a retry is.
    """
    if seen.served is None:
        return None
    counts = seen.result.counts
    sent = counts.scheduled - counts.unsent + seen.result.retried
    doubt = 2 * seen.load.concurrency + 2 * seen.served_apart_s * seen.result.throughput_per_s
    declared = seen.stack is not None and seen.stack.keeps_answers
    if seen.served > sent + doubt + _SHARE * sent:
        extra = seen.served - sent
        what = (
            f"the app was asked {count(extra)} times more than the client asked ({percent(extra / max(1, sent))})"
        )
        remedy = (
            "switch retries off in the front end (nginx: proxy_next_upstream off), and see in its log which fail"
        )
    elif seen.served < counts.ok * (1 - _MISSING) - doubt and not declared:
        what = f"the app was asked only {count(seen.served)} times for {count(counts.ok)} right answers"
        remedy = "something between keeps answers: switch its cache off, or declare it (cache=on)"
    else:
        return None
    return Finding(
        check="hidden retries",
        effect=Effect.INVALIDATES,
        seen=what,
        threshold=f"as often as the client asked, give or take {count(doubt + _SHARE * sent)}",
        remedy=remedy,
    )
