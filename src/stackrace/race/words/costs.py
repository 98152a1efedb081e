"""What the winner costs: memory and CPU time per request, against the next best and against cheaper equals."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.standing import Row
from .hops import total
from .phrases import digits, mebibytes, names, share, times
from .told import Told, named

__all__ = ["CHEAPER", "cheaper_equal", "costs", "cpu_ms", "memory"]

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


def costs(told: Told) -> str:
    """Return one or two sentences; empty where one stack stands alone or no cost is known.

    Memory is the highest sum seen, CPU time a mean over all requests: neither has limits of its own, so small
    differences are called "about the same".
    """
    if len(told.rows) < 2:
        return ""
    first = named(told)
    second = _next(told, first)
    equal = cheaper_equal(told, first)
    parts = [] if equal == second else [_against(told, first, second)]
    if equal is not None:
        parts.append(_instead(told, first, equal))
    return " ".join(part for part in parts if part)


def cheaper_equal(told: Told, first: int) -> int | None:
    """Return the stack of the first tier that costs clearly less than ``first``, the one with the least memory."""
    own = told.row(first)
    rivals = [told.stacks.index(row.stack) for row in told.rows if row.tier == 1 and row.stack != own.stack]
    found = [i for i in rivals if not told.judgement.better(first, i) and _cheaper(told.row(i), own)]
    return min(found, key=lambda i: (memory(told.row(i)), cpu_ms(told.row(i))), default=None)


def _next(told: Told, first: int) -> int:
    return next(told.stacks.index(row.stack) for row in told.rows if row.stack != told.stacks[first])


def _cheaper(one: Row, other: Row) -> bool:
    """Tell whether ``one`` needs clearly less of something and not much more of anything."""
    ratios = [mine / its for mine, its in _pairs(one, other)]
    return bool(ratios) and min(ratios) <= CHEAPER and max(ratios) <= DEARER


def _pairs(one: Row, other: Row) -> list[tuple[float, float]]:
    pairs = [(memory(one), memory(other)), (cpu_ms(one), cpu_ms(other))]
    return [(mine, its) for mine, its in pairs if mine > 0 and its > 0]


def _against(told: Told, first: int, second: int) -> str:
    own, rival = told.row(first), told.row(second)
    needs = _needs(own, rival)
    if not needs:
        return ""
    ratio = told.judgement.ratio(first, second)
    if told.judgement.better(first, second) and ratio.value > 1:
        return f"For {times(ratio)} the throughput of {rival.stack}, {own.stack} takes {names(needs)}."
    return f"Against {rival.stack}, {own.stack} takes {names(needs)}."


def _instead(told: Told, first: int, equal: int) -> str:
    own, rival = told.row(first), told.row(equal)
    needs = names(_needs(rival, own))
    judgement = told.judgement
    if judgement.tied[first, equal] or equal in judgement.winners:
        return f"As far as throughput goes you may as well take {rival.stack}: it needs {needs}."
    return f"{rival.stack} cannot be told from {own.stack} in throughput and needs {needs}."


def _needs(one: Row, other: Row) -> Sequence[str]:
    """Word what ``one`` needs as a share of what ``other`` does, memory first."""
    told = []
    if memory(one) > 0 and memory(other) > 0:
        word = share(memory(one) / memory(other))
        told.append(f"{word}the{_same(word)} memory ({mebibytes(memory(one))} against {mebibytes(memory(other))})")
    if cpu_ms(one) > 0 and cpu_ms(other) > 0:
        word = share(cpu_ms(one) / cpu_ms(other))
        figures = f"{digits(cpu_ms(one))} ms against {digits(cpu_ms(other))} ms"
        told.append(f"{word}the{_same(word)} CPU time per request ({figures})")
    return told


def _same(word: str) -> str:
    return " same" if word == "about " else ""
