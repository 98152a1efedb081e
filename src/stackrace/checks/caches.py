"""Did the server itself give the answers, or something that remembered them?

A cache that the stack itself declares (``varnish:cache=on``) is what is raced then, and no finding.
"""

from __future__ import annotations

from ..model.verdict import Finding
from .judge import count, judge, percent
from .observation import Observation

__all__ = ["cached_answers", "nonces_lost", "stale_dates"]

_REMEDY = "something between keeps answers: switch its cache off, or load the server behind it"


def cached_answers(seen: Observation) -> Finding | None:
    """Answers said of themselves that they came out of a cache (Age, X-Cache): any invalidates.

    A stack that answers from a cache does not run the app, so it is not compared with those that do.

    Source: RFC 9111 section 5.1: Age is in every answer from a cache, and in no other.
    """
    if _declared(seen):
        return None
    cached = seen.result.cached_answers
    return judge(
        "cached answers",
        cached,
        invalidates=0,
        seen=f"{count(cached)} answers came out of a cache, as their Age or X-Cache header tells",
        remedy=_REMEDY,
        unit=count,
    )


def nonces_lost(seen: Observation) -> Finding | None:
    """Answers did not repeat the number that only their request had: any invalidates.

    An answer that was made for another request cannot hold it, whatever its headers claim.

    Source: RFC 9111 section 2: the cache key is method and target URI, unless Vary names more.
    """
    if _declared(seen):
        return None
    lost = seen.result.nonces_lost
    return judge(
        "nonces lost",
        lost,
        invalidates=0,
        seen=f"{count(lost)} answers did not repeat their request's own nonce",
        remedy=f"does the app repeat it at all? If so, {_REMEDY}",
        unit=count,
    )


def stale_dates(seen: Observation) -> Finding | None:
    """Answers bore a Date over two seconds before their request: any warns, more than 0.1 % invalidates.

    Servers stamp an answer when they make it, or when they begin on its request, some only once a second. One that
    is older than its request was made for another.

    Source: RFC 9110 section 6.6.1: Date is when the message was originated.
    """
    if _declared(seen):
        return None
    stale = seen.result.stale_dates
    share = stale / max(1, seen.answered)
    return judge(
        "stale dates",
        share,
        warns=0.0,
        invalidates=0.001,
        seen=f"{count(stale)} answers ({percent(share)}) bore a Date more than two seconds before their request",
        remedy=f"is the server's clock behind this machine's? If not, {_REMEDY}",
    )


def _declared(seen: Observation) -> bool:
    """Whether a hop of the stack says that it keeps answers."""
    return seen.stack is not None and seen.stack.keeps_answers
