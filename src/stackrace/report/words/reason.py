"""Where the CPU time goes, in one sentence."""

from __future__ import annotations

from ...base.numbers import number, percent
from ...race.results.reason import CpuTime, Reason
from .phrases import names

__all__ = ["reason"]


def reason(why: Reason | None) -> str:
    """Return the sentence; empty where no CPU time was seen."""
    if why is None:
        return ""
    if why.second is None:
        return f"{why.first.stack} spends {_spending(why.first)}."
    odd = ": CPU time does not explain the difference" if why.not_cpu else ""
    added = f": {why.hop} makes most of the difference" if why.hop else ""
    return (
        f"{why.second.stack} spends {_spending(why.second)}; "
        f"the leader, {why.first.stack}, spends {_spending(why.first)}{odd}{added}."
    )


def _spending(time: CpuTime) -> str:
    """Word CPU time: ``0.52 ms of CPU time per request (81 % in gunicorn, 19 % in nginx)``."""
    shares = [f"{percent(ms / time.total_ms)} in {hop}" for hop, ms in time.hops.items()]
    split = f" ({', '.join(shares)})" if len(shares) > 1 else ""
    services = [f"{number(ms)} ms in {service}" for service, ms in time.services.items()]
    beside = f", and {names(services)}" if services else ""
    return f"{number(time.total_ms)} ms of CPU time per request{split}{beside}"
