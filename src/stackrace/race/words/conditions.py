"""What would have to be true for the answer to change: computed from the race, the likeliest first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from ...model.race import Rule
from ...model.standing import Interval, Row
from .costs import CHEAPER, cpu_ms, memory
from .hops import beside, own
from .levels import Kind, Outcome, outcome
from .phrases import digits, mebibytes, milliseconds, names, percent, times
from .told import Told, named

__all__ = ["MOST", "conditions"]

MOST = 4
"""More of them would bury the likely ones."""
FAR = 0.3
"""Nobody calls a larger difference one that does not matter."""
HEAVY = 0.3
"""A service that takes this share of the CPU time is worth a word."""
HEAVIEST = 0.8
"""So is an app whose process takes this share."""


def conditions(levels: Sequence[Told], at: int) -> tuple[str, ...]:
    """Return at most ``MOST`` sentences that begin with "If"; none where there is nothing to compare."""
    told = levels[at]
    if len(told.rows) < 2:
        return ()
    first = named(told)
    return tuple(islice(_all(levels, told, first), MOST))


def _all(levels: Sequence[Told], told: Told, first: int) -> Iterator[str]:
    yield from _difference(told, first)
    yield from _levels(levels, told, first)
    yield from _latency(told, first)
    yield from _errors(told, first)
    yield from _memory(told, first)
    yield from _cpu(told, first)
    yield from _elsewhere(told.row(first))


# The difference that matters


def _difference(told: Told, first: int) -> Iterator[str]:
    """Find the difference at which the decision flips, by the rule that made it: m − H > −δ against all others."""
    judgement, now, stacks = told.judgement, told.race.difference, told.stacks
    needs = [_need(told, i) for i in range(len(stacks))]
    if told.race.rule is Rule.SELECTION:
        # who will do where more does not matter; the answer itself says how far behind a leader may be
        others = [i for i in range(len(stacks)) if i != first] if judgement.winners else []
        for rival in sorted(others, key=lambda i: needs[i])[:1]:
            if now < needs[rival] <= FAR:
                rest = f"then {stacks[rival]} will do as well"
                yield f"If differences up to {percent(needs[rival])} do not matter to you ({_now(now)}): {rest}."
    elif not judgement.winners:
        best = needs.index(min(needs))
        if now < needs[best] <= FAR:
            rest = f"then {stacks[best]} will do"
            yield f"If differences of {percent(needs[best])} do not matter to you ({_now(now)}): {rest}."
    elif needs[first] > 0:
        surer = [i for i in judgement.winners if needs[i] < needs[first]]
        rest = "then nobody has won, as this race does not tell them apart that finely"
        if surer:
            rest = f"then only {stacks[surer[0]]} is sure to be as good as any"
        yield f"If differences below {percent(needs[first])} matter to you ({_now(now)}): {rest}."
    else:
        rival = min((i for i in range(len(stacks)) if i != first), key=lambda i: needs[i])
        if now < needs[rival] <= FAR:
            rest = f"then {stacks[rival]} will do as well"
            yield f"If differences up to {percent(needs[rival])} do not matter to you ({_now(now)}): {rest}."


def _need(told: Told, one: int) -> float:
    """Return how large a difference must not matter for ``one`` to win: what it may be slower by than any other.

    What holds against k holds against all that k is above.
    """
    order = told.judgement.order
    others = [j for j in range(len(told.stacks)) if j != one and not order[one, j]]
    return max(
        (min(_behind(told, one, k) for k in (j, *(k for k in others if order[k, j]))) for j in others), default=0.0
    )


def _now(difference: float) -> str:
    return f"now {percent(difference)}"


def _behind(told: Told, one: int, other: int) -> float:
    """Return by how much ``one`` may be slower than ``other`` at most: exp(H − m) − 1; infinite without limits."""
    ratio = told.judgement.ratio(other, one)
    return math.inf if ratio.high is None else ratio.high - 1


# Other levels


def _levels(levels: Sequence[Told], told: Told, first: int) -> Iterator[str]:
    """Name the load levels of the headline's workload at which another stack is proved better."""
    load = told.level.load
    key = told.level.workload, load.keep_alive
    kin = [one for one in levels if (one.level.workload, one.level.load.keep_alive) == key and one is not told]
    kin.sort(key=lambda one: one.level.load.concurrency)
    found = [(one, outcome(one)) for one in kin if _overtaken(one, told.stacks[first])]
    if not found:
        return
    winner = found[-1][1].stacks[0]
    same = [pair for pair in found if pair[1].stacks[0] == winner]
    numbers = [one.level.load.concurrency for one, _ in same]
    below = [one.level.load.concurrency for one in kin if one.level.load.concurrency <= numbers[-1]]
    if below == numbers and numbers[-1] < load.concurrency:
        where = f"{numbers[-1]} connections or fewer" if numbers[-1] > 1 else "a single connection"
    else:
        where = f"{' and '.join(map(str, numbers))} connections"
    yield f"If you run at {where}: then {winner}{_ahead([seen for _, seen in same])}."


def _overtaken(told: Told, stack: str) -> bool:
    """Tell whether somebody leads a level alone and ``stack`` is proved slower there."""
    seen = outcome(told)
    if seen.kind is not Kind.AHEAD or seen.stacks[0] == stack or stack not in told.stacks:
        return False
    return bool(told.judgement.order[told.stacks.index(seen.stacks[0]), told.stacks.index(stack)])


def _ahead(seen: Sequence[Outcome]) -> str:
    ratio = seen[0].ratio
    alone = len(seen) == 1 and ratio is not None and math.isfinite(ratio.value)
    return f", {times(ratio)} the next best" if alone and ratio is not None else ""


# Latency, errors, cost


def _latency(told: Told, first: int) -> Iterator[str]:
    """Name the stack with the lowest p99, if its limits lie below those of the winner."""
    mine = _p99(told.row(first))
    if mine is None or mine.low is None:
        return
    found = [(row, _p99(row)) for row in told.rows if row.stack != told.stacks[first]]
    better = [
        (limits.value, row.stack, limits)
        for row, limits in found
        if limits is not None and limits.high is not None and limits.high < mine.low
        and "p99" not in row.latency.censored
    ]  # fmt: skip
    if better:
        _, stack, limits = min(better)
        bound = "≥ " if "p99" in told.row(first).latency.censored else ""
        figures = f"{_span(limits)} against {bound}{_span(mine)}"
        yield f"If p99 latency counts more than throughput: then {stack}, {figures}."


def _p99(row: Row) -> Interval | None:
    return row.latency_limits.get("p99")


def _span(limits: Interval) -> str:
    if limits.low is None or limits.high is None:
        return milliseconds(limits.value)
    low, high = milliseconds(limits.low).removesuffix(" ms"), milliseconds(limits.high).removesuffix(" ms")
    return f"{milliseconds(limits.value)} ({low}–{high})"


def _errors(told: Told, first: int) -> Iterator[str]:
    mine = told.row(first)
    clean = next((row for row in told.rows if row.errors == 0 and row.requests), None)
    if mine.errors and clean is not None:
        yield (
            f"If no request may fail: then {clean.stack}, which had no errors; "
            f"of {mine.stack}'s {mine.requests:,} requests {mine.errors:,} failed."
        )


def _memory(told: Told, first: int) -> Iterator[str]:
    """Name the best stack that needs clearly less memory than the winner."""
    mine = told.row(first)
    rival = next((row for row in told.rows if 0 < memory(row) <= CHEAPER * memory(mine)), None)
    if rival is not None:
        need = mebibytes(memory(mine))
        yield f"If a stack may hold less than {need}: then {rival.stack}, which needs {mebibytes(memory(rival))}."


def _cpu(told: Told, first: int) -> Iterator[str]:
    mine = told.row(first)
    rival = min((row for row in told.rows if cpu_ms(row) > 0), key=cpu_ms, default=None)
    if rival is not None and cpu_ms(rival) <= CHEAPER * cpu_ms(mine):
        figures = f"{digits(cpu_ms(rival))} ms per request against {digits(cpu_ms(mine))} ms"
        yield f"If CPU time is what you pay for: then {rival.stack}, {figures}."


# Where a choice of stack cannot help


def _elsewhere(row: Row) -> Iterator[str]:
    """Say how little the choice of stack can change where a service, or the app's own process, takes the time."""
    hops, services = own(row), beside(row)
    whole = sum(hops.values()) + sum(services.values())
    if whole <= 0:
        return
    if services and sum(services.values()) >= HEAVY * whole:
        part = sum(services.values()) / whole
        yield (
            f"If the app asked less of {names(list(services))}: {percent(part)} of the CPU time goes there, "
            f"so no server can save more than the other {percent(1 - part)}."
        )
    elif len(hops) > 1:
        host = max(hops, key=lambda hop: row.stack.rfind(hop.split("+")[-1]))
        part = hops[host] / whole
        if part >= HEAVIEST:
            yield (
                f"If the app cost less: {percent(part)} of {row.stack}'s CPU time is spent in {host}, where the "
                f"app runs, so what stands before it can save at most {percent(1 - part)}."
            )
