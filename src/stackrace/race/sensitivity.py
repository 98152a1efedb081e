"""What would have to be true for the answer to change: computed from the race, the likeliest first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from ..base.numbers import Interval
from .answer import CHEAPER, cpu_ms, cpu_time, lead_of, memory
from .levels import JudgedLevel
from .results.answer import Lead, LeadKind
from .results.answer import (
    Condition,
    CpuCounts,
    LargerDifference,
    LatencyCounts,
    LessMemory,
    LighterApp,
    LighterServices,
    NoErrors,
    OtherLevels,
)
from .results.standing import Row

MOST = 4
"""More of them would bury the likely ones."""
_FAR = 0.3
"""Nobody calls a larger difference one that does not matter."""
_HEAVY = 0.3
"""A service that takes this share of the CPU time is worth a word."""
_HEAVIEST = 0.8
"""So is an app whose process takes this share."""


def conditions_of(levels: Sequence[JudgedLevel], headline: int) -> tuple[Condition, ...]:
    """Return at most ``MOST`` conditions; none where there is nothing to compare."""
    judged = levels[headline]
    if len(judged.rows) < 2:
        return ()
    return tuple(islice(_all(levels, judged), MOST))


def _all(levels: Sequence[JudgedLevel], judged: JudgedLevel) -> Iterator[Condition]:
    first = judged.row(judged.first)
    yield from _difference(judged)
    yield from _levels(levels, judged)
    yield from _latency(judged.rows, first)
    yield from _errors(judged.rows, first)
    yield from _memory(judged.rows, first)
    yield from _cpu(judged.rows, first)
    yield from _elsewhere(first)


# The difference that matters


def _difference(judged: JudgedLevel) -> Iterator[Condition]:
    """Name the stack that differences of a little more make as good as the winner: by the limits of its ratio.

    Who will do where more does not matter is no question while nobody wins: the answer itself says how far behind
    a leader may be.
    """
    judgement, now = judged.judgement, judged.race.difference
    if judgement.winner is None:
        return
    slower = {i: _slower(judged, i) for i in range(len(judged.stacks)) if i != judged.first}
    rival = min(slower, key=lambda i: slower[i])
    if now < slower[rival] <= _FAR:
        yield LargerDifference(stack=judged.stacks[rival], difference=slower[rival], now=now)


def _slower(judged: JudgedLevel, index: int) -> float:
    """Return by how much a stack may be slower than the winner at most; infinite without limits."""
    ratio = judged.judgement.ratio(judged.first, index)
    return math.inf if ratio.high is None else ratio.high - 1


# Other levels


def _levels(levels: Sequence[JudgedLevel], judged: JudgedLevel) -> Iterator[Condition]:
    """Name the load levels of the headline's workload at which another stack is proved better."""
    kin = [level for level in levels if level.series == judged.series and level is not judged]
    kin.sort(key=lambda level: level.level.load.concurrency)
    overtaken = [lead_of(level) for level in kin if _overtaken(level, judged.stacks[judged.first])]
    if not overtaken:
        return
    winner = overtaken[-1].stacks[0]
    same = [lead for lead in overtaken if lead.stacks[0] == winner]
    numbers = tuple(lead.load.concurrency for lead in same)
    below = tuple(level.level.load.concurrency for level in kin if level.level.load.concurrency <= numbers[-1])
    yield OtherLevels(
        stack=winner,
        connections=numbers,
        or_fewer=below == numbers and numbers[-1] < judged.level.load.concurrency,
        ratio=_single_ratio(same),
    )


def _overtaken(judged: JudgedLevel, stack: str) -> bool:
    """Tell whether somebody leads a level alone and ``stack`` is proved slower there."""
    lead = lead_of(judged)
    if lead.kind is not LeadKind.AHEAD or lead.stacks[0] == stack or stack not in judged.stacks:
        return False
    return bool(judged.judgement.order[judged.stacks.index(lead.stacks[0]), judged.stacks.index(stack)])


def _single_ratio(leads: Sequence[Lead]) -> Interval | None:
    ratio = leads[0].ratio
    return ratio if len(leads) == 1 and ratio is not None and math.isfinite(ratio.value) else None


# Latency, errors, cost


def _latency(rows: Sequence[Row], first: Row) -> Iterator[Condition]:
    """Name the stack with the lowest p99, if its limits lie below those of the winner."""
    own = _p99(first)
    if own is None or own.low is None:
        return
    better = [
        (limits.value, row.stack, limits)
        for row in rows
        if row.stack != first.stack
        and (limits := _p99(row)) is not None
        and limits.high is not None
        and limits.high < own.low
        and not _is_bound(row)
    ]
    if better:
        _, stack, limits = min(better, key=lambda entry: entry[:2])
        yield LatencyCounts(stack=stack, p99_s=limits, first_p99_s=own, at_least=_is_bound(first))


def _p99(row: Row) -> Interval | None:
    return row.latency_limits.get("p99")


def _is_bound(row: Row) -> bool:
    """Tell whether the row's p99 is known only as a lower bound."""
    return "p99" in row.latency.censored


def _errors(rows: Sequence[Row], first: Row) -> Iterator[Condition]:
    clean = next((row for row in rows if row.errors == 0 and row.requests), None)
    if first.errors and clean is not None:
        yield NoErrors(stack=clean.stack, first=first.stack, requests=first.requests, errors=first.errors)


def _memory(rows: Sequence[Row], first: Row) -> Iterator[Condition]:
    """Name the best stack that needs clearly less memory than the winner."""
    rival = next((row for row in rows if 0 < memory(row) <= CHEAPER * memory(first)), None)
    if rival is not None:
        yield LessMemory(stack=rival.stack, memory_bytes=memory(rival), first_memory_bytes=memory(first))


def _cpu(rows: Sequence[Row], first: Row) -> Iterator[Condition]:
    rival = min((row for row in rows if cpu_ms(row) > 0), key=cpu_ms, default=None)
    if rival is not None and cpu_ms(rival) <= CHEAPER * cpu_ms(first):
        yield CpuCounts(stack=rival.stack, cpu_ms_per_request=cpu_ms(rival), first_cpu_ms_per_request=cpu_ms(first))


# Where a choice of stack cannot help


def _elsewhere(row: Row) -> Iterator[Condition]:
    """Say how little the choice of stack can change where a service, or the app's own process, takes the time."""
    time = cpu_time(row)
    services_ms = sum(time.services.values())
    whole_ms = time.total_ms + services_ms
    if whole_ms <= 0:
        return
    if time.services and services_ms >= _HEAVY * whole_ms:
        yield LighterServices(services=tuple(time.services), share=services_ms / whole_ms)
    elif len(time.hops) > 1:
        host = max(time.hops, key=lambda hop: row.stack.rfind(hop.split("+")[-1]))
        if time.hops[host] >= _HEAVIEST * whole_ms:
            yield LighterApp(first=row.stack, hop=host, share=time.hops[host] / whole_ms)
