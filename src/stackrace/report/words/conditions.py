"""What would have to be true for the answer to change, each in a sentence that begins with "If"."""

from __future__ import annotations

from ...model import sensitivity as model
from ...model.interval import Interval
from ...model.numbers import count, mebibytes, milliseconds, number, percent
from .phrases import names, times

__all__ = ["condition"]


def condition(one: model.Condition) -> str:
    """Return the sentence."""
    match one:
        case model.LargerDifference():
            return _larger_difference(one)
        case model.SmallerDifference():
            return _smaller_difference(one)
        case model.OtherLevels():
            return _other_levels(one)
        case model.LatencyCounts():
            bound = "≥ " if one.at_least else ""
            figures = f"{_span(one.p99_s)} against {bound}{_span(one.first_p99_s)}"
            return f"If p99 latency counts more than throughput: then {one.stack}, {figures}."
        case model.NoErrors():
            return (
                f"If no request may fail: then {one.stack}, which had no errors; "
                f"of {one.first}'s {count(one.requests)} requests {count(one.errors)} failed."
            )
        case model.LessMemory():
            need = f"{one.stack}, which needs {mebibytes(one.memory_bytes)} MiB"
            return f"If a stack may hold less than {mebibytes(one.first_memory_bytes)} MiB: then {need}."
        case model.CpuCounts():
            own, first = number(one.cpu_ms_per_request), number(one.first_cpu_ms_per_request)
            return f"If CPU time is what you pay for: then {one.stack}, {own} ms per request against {first} ms."
        case model.LighterServices():
            return (
                f"If the app asked less of {names(one.services)}: {percent(one.share)} of the CPU time goes there, "
                f"so no server can save more than the other {percent(1 - one.share)}."
            )
        case model.LighterApp():
            return (
                f"If the app cost less: {percent(one.share)} of {one.first}'s CPU time is spent in {one.hop}, "
                f"where the app runs, so what stands before it can save at most {percent(1 - one.share)}."
            )


def _larger_difference(one: model.LargerDifference) -> str:
    up_to, as_well = ("up to ", " as well") if one.as_well else ("of ", "")
    what = f"If differences {up_to}{percent(one.difference)} do not matter to you (now {percent(one.now)})"
    return f"{what}: then {one.stack} will do{as_well}."


def _smaller_difference(one: model.SmallerDifference) -> str:
    rest = "nobody has won, as this race does not tell them apart that finely"
    if one.stack is not None:
        rest = f"only {one.stack} is sure to be as good as any"
    return f"If differences below {percent(one.difference)} matter to you (now {percent(one.now)}): then {rest}."


def _other_levels(one: model.OtherLevels) -> str:
    most = one.connections[-1]
    if one.or_fewer:
        where = f"{most} connections or fewer" if most > 1 else "a single connection"
    else:
        where = f"{' and '.join(map(str, one.connections))} connections"
    ahead = "" if one.ratio is None else f", {times(one.ratio)} the next best"
    return f"If you run at {where}: then {one.stack}{ahead}."


def _span(limits: Interval) -> str:
    if limits.low is None or limits.high is None:
        return f"{milliseconds(limits.value)} ms"
    return f"{milliseconds(limits.value)} ms ({milliseconds(limits.low)}–{milliseconds(limits.high)})"
