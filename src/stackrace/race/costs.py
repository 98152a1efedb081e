"""What the winner costs: memory and CPU time per request, against the next best and against cheaper equals."""

from __future__ import annotations

from .cpu_time import total
from .judged_level import JudgedLevel
from .results.costs import Costs, Need
from .results.standing import Row

__all__ = ["CHEAPER", "costs_of", "cpu_ms", "memory"]

CHEAPER = 0.75
"""A stack is clearly cheaper when it needs at most this share of the memory or CPU time."""
DEARER = 1.1
"""A cheaper stack may need this much more of the other resource and still count as cheaper."""


def memory(row: Row) -> float:
    """Return the bytes (peak PSS) of the row's own hops; 0 where unknown."""
    return total(row.stack, row.memory_bytes)


def cpu_ms(row: Row) -> float:
    """Return the CPU ms per request of the row's own hops; 0 where unknown."""
    return total(row.stack, row.cpu_ms_per_request)


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
    return bool(ratios) and min(ratios) <= CHEAPER and max(ratios) <= DEARER
