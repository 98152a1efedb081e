"""What stacks cost: memory and CPU time by hop; the winner against the next best and against cheaper equals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .levels import JudgedLevel
from .results.costs import Costs, Need
from .results.reason import CpuTime, Reason
from .results.standing import Row

__all__ = ["CHEAPER", "costs_of", "cpu_ms", "cpu_time", "memory", "reason_of"]

CHEAPER = 0.75
"""A stack is clearly cheaper when it needs at most this share of the memory or CPU time."""
_DEARER = 1.1
"""A cheaper stack may need this much more of the other resource and still count as cheaper."""

_SETTINGS = re.compile(r":[^/+]*")

_MOST_OF_IT = 0.5
"""A hop explains a difference when it makes up at least this share of it."""


def memory(row: Row) -> float:
    """Return the bytes (peak PSS) of the row's own hops; 0 where unknown."""
    return _total(row.stack, row.memory_bytes)


def cpu_ms(row: Row) -> float:
    """Return the CPU ms per request of the row's own hops; 0 where unknown."""
    return _total(row.stack, row.cpu_ms_per_request)


def costs_of(judged: JudgedLevel, next_best: str) -> Costs | None:
    """Return what the first stack needs against ``next_best``, as the answer names it; None without one."""
    if not next_best:
        return None
    first, second = judged.first, judged.stacks.index(next_best)
    cheaper = _cheaper_equal(judged, first)
    judgement, ratio = judged.judgement, judged.judgement.ratio(first, second)
    return Costs(
        first=_need(judged.row(first)),
        second=_need(judged.row(second)),
        ratio=ratio if judgement.order[first, second] else None,
        cheaper=None if cheaper is None else _need(judged.row(cheaper)),
        equal=cheaper is not None and judgement.apart(first, cheaper) <= judged.race.difference,
    )


def _need(row: Row) -> Need:
    return Need(stack=row.stack, memory_bytes=memory(row) or None, cpu_ms_per_request=cpu_ms(row) or None)


def _cheaper_equal(judged: JudgedLevel, first: int) -> int | None:
    """Return the stack of the first tier that costs clearly less than ``first``, the one with the least memory."""
    own = judged.row(first)
    rivals = [judged.stacks.index(row.stack) for row in judged.rows if row.tier == 1 and row.stack != own.stack]
    equal = [i for i in rivals if _cheaper(judged.row(i), own)]
    return min(equal, key=lambda i: (memory(judged.row(i)), cpu_ms(judged.row(i))), default=None)


def _cheaper(row: Row, other: Row) -> bool:
    """Tell whether ``row`` needs clearly less of something and not much more of anything."""
    pairs = [(memory(row), memory(other)), (cpu_ms(row), cpu_ms(other))]
    ratios = [mine / its for mine, its in pairs if mine > 0 and its > 0]
    return bool(ratios) and min(ratios) <= CHEAPER and max(ratios) <= _DEARER


def cpu_time(row: Row) -> CpuTime:
    """Return the CPU time per request of a row, its own hops and the services beside it apart."""
    costs = row.cpu_ms_per_request
    return CpuTime(
        stack=row.stack,
        hops=_part(row.stack, costs, inside=True),
        services=_part(row.stack, costs, inside=False),
    )


def _total(stack: str, costs: Mapping[str, float]) -> float:
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
    return next((hop for hop, ms in added.items() if ms >= _MOST_OF_IT * more_ms), "")
