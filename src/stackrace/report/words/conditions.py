"""What would have to be true for the answer to change, each in a sentence that begins with "If"."""

from __future__ import annotations

from ...base.interval import Interval
from ...base.numbers import count, mebibytes, milliseconds, number, percent
from ...race.results import sensitivity as model
from .phrases import names, times

__all__ = ["condition"]


def condition(change: model.Condition) -> str:
    """Return the sentence."""
    match change:
        case model.LargerDifference():
            return _larger_difference(change)
        case model.OtherLevels():
            return _other_levels(change)
        case model.LatencyCounts(stack=stack, p99_s=p99_s, first_p99_s=first_s, at_least=at_least):
            figures = f"{_span(p99_s)} against {'≥ ' if at_least else ''}{_span(first_s)}"
            return f"If p99 latency counts more than throughput: then {stack}, {figures}."
        case model.NoErrors(stack=stack, first=first, requests=requests, errors=errors):
            failed = f"of {first}'s {count(requests)} requests {count(errors)} failed"
            return f"If no request may fail: then {stack}, which had no errors; {failed}."
        case model.LessMemory(stack=stack, memory_bytes=size, first_memory_bytes=most):
            needs = f"{stack}, which needs {mebibytes(size)} MiB"
            return f"If a stack must fit into less than {mebibytes(most)} MiB: then {needs}."
        case model.CpuCounts(stack=stack, cpu_ms_per_request=ms, first_cpu_ms_per_request=first_ms):
            figures = f"{number(ms)} ms per request against {number(first_ms)} ms"
            return f"If CPU time is what you pay for: then {stack}, {figures}."
        case model.LighterServices(services=services, share=share):
            return (
                f"If the app asked less of {names(services)}: {percent(share)} of the CPU time goes there, "
                f"so no server can save more than the other {percent(1 - share)}."
            )
        case model.LighterApp(first=first, hop=hop, share=share):
            return (
                f"If the app cost less: {percent(share)} of {first}'s CPU time is spent in {hop}, "
                f"where the app runs, so all other servers can save at most {percent(1 - share)}."
            )


def _larger_difference(change: model.LargerDifference) -> str:
    matters = f"up to {percent(change.difference)} do not matter to you (now {percent(change.now)})"
    return f"If differences {matters}: then {change.stack} will do as well."


def _other_levels(change: model.OtherLevels) -> str:
    most = change.connections[-1]
    if change.or_fewer:
        where = f"{most} connections or fewer" if most > 1 else "a single connection"
    else:
        where = f"{' and '.join(map(str, change.connections))} connections"
    ahead = "" if change.ratio is None else f", {times(change.ratio)} the next best"
    return f"If you run at {where}: then {change.stack}{ahead}."


def _span(limits: Interval) -> str:
    if limits.low is None or limits.high is None:
        return f"{milliseconds(limits.value)} ms"
    return f"{milliseconds(limits.value)} ms ({milliseconds(limits.low)}–{milliseconds(limits.high)})"
