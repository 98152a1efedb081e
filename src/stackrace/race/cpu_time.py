"""Where the CPU time goes: by hop of the stack, services beside it apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .results.reason import CpuTime, Reason
from .results.standing import Row

__all__ = ["cpu_time", "reason_of", "total"]

_SETTINGS = re.compile(r":[^/+]*")
MOST_OF_IT = 0.5
"""A hop explains a difference when it makes up at least this share of it."""


def cpu_time(row: Row) -> CpuTime:
    """Return the CPU time per request of a row, its own hops and the services beside it apart."""
    costs = row.cpu_ms_per_request
    return CpuTime(
        stack=row.stack,
        hops=_part(row.stack, costs, inside=True),
        services=_part(row.stack, costs, inside=False),
    )


def total(stack: str, costs: Mapping[str, float]) -> float:
    """Return what the hops of ``stack`` cost together (CPU time, bytes), services beside it left out."""
    return sum(_part(stack, costs, inside=True).values())


def _part(stack: str, costs: Mapping[str, float], *, inside: bool) -> dict[str, float]:
    servers = set(re.split(r"[/+]", _SETTINGS.sub("", stack)))
    hops = {hop for hop in costs if servers.issuperset(hop.split("+"))} or set(costs)
    kept = {hop: cost for hop, cost in costs.items() if (hop in hops) is inside}
    return dict(sorted(kept.items(), key=lambda item: -item[1]))


def reason_of(rows: Sequence[Row]) -> Reason | None:
    """Return where the CPU time of the first two rows goes; None when none was seen."""
    first, *others = (cpu_time(row) for row in rows[:2])
    if min(time.total_ms for time in (first, *others)) <= 0:
        return None
    if not others:
        return Reason(first=first)
    second, ratio = others[0], rows[1].ratio
    slower = ratio.high is not None and ratio.high < 1
    return Reason(
        first=first,
        second=second,
        not_cpu=slower and first.total_ms >= second.total_ms,
        hop=_added_hop(first, second),
    )


def _added_hop(first: CpuTime, second: CpuTime) -> str:
    """Name the hop that the second stack has and the first has not, where it makes most of the difference."""
    more_ms = second.total_ms - first.total_ms
    if more_ms <= 0 or not set(first.hops) <= set(second.hops):
        return ""
    added = {hop: ms for hop, ms in second.hops.items() if hop not in first.hops}
    return next((hop for hop, ms in added.items() if ms >= MOST_OF_IT * more_ms), "")
