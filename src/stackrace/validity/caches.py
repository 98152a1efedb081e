"""Did the server itself give the answers, or something that remembered them?

A cache that the stack itself declares (``SERVER:cache=on``) is what is raced then, and no finding.
"""

from __future__ import annotations

from ..base.verdict import Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation
from .texts import CACHE_BETWEEN

__all__ = ["cached_answers", "nonces_lost", "stale_dates"]


@Declaration(
    id="cached-answers",
    number=29,
    title="cached answers",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(invalidates=0),
    seen="{value:count} answers came from a cache, according to their Age or X-Cache header",
    remedy=CACHE_BETWEEN,
    source="RFC 9111 section 5.1",
)
def cached_answers(observation: Observation) -> Finding | None:
    """Answers came from a cache, according to their headers (Age, X-Cache).

    A stack that answers from a cache does not run the app, so it is not compared with those that do.
    """
    return None if _declared(observation) else cached_answers.judge(observation.result.cached_answers)


@Declaration(
    id="nonces-lost",
    number=29,
    title="nonces lost",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(invalidates=0),
    seen="{value:count} answers did not repeat their request's own nonce",
    remedy=f"does the app repeat it at all? If so, {CACHE_BETWEEN}",
    source="RFC 9111 section 2",
)
def nonces_lost(observation: Observation) -> Finding | None:
    """Answers did not repeat their request's unique number.

    An answer that was made for another request cannot hold it, whatever its headers claim.
    """
    return None if _declared(observation) else nonces_lost.judge(observation.result.nonces_lost)


@Declaration(
    id="stale-dates",
    number=29,
    title="stale dates",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.0, invalidates=0.001),
    unit=Unit.SHARE,
    of="of answers",
    seen="{stale:count} answers ({value:percent}) had a Date more than two seconds before their request",
    remedy=f"is the server's clock behind this machine's? If not, {CACHE_BETWEEN}",
    source="RFC 9110 section 6.6.1",
)
def stale_dates(observation: Observation) -> Finding | None:
    """Answers had a Date more than two seconds before their request.

    Servers stamp an answer when they make it, or when they begin on its request, some only once a second. One that
    is older than its request was made for another.
    """
    if _declared(observation):
        return None
    stale = observation.result.stale_dates
    return stale_dates.judge(stale / max(1, observation.answered), stale=stale)


def _declared(observation: Observation) -> bool:
    """Whether a hop of the stack says that it keeps answers."""
    return observation.stack is not None and observation.stack.keeps_answers
