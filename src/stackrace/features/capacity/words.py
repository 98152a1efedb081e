"""What a search for capacity found."""

from __future__ import annotations

from ...base.numbers import count, number, percent
from ...base.units import DURATION
from ...measure.engine.load_run import FinishedRun, Goal, Miss, Missed, label
from ...report.figures import timed
from .stats import HIGH, LOW

__all__ = [
    "CAVEAT",
    "NOTHING_ABOVE",
    "NOTHING_BELOW",
    "capacity",
    "closed_loop",
    "goal_text",
    "missed",
    "none",
    "unknown",
]

CAVEAT = (
    "This is one start of the server. It does not show how two starts, or two hours of a machine, differ. "
    "Random arrivals, like real visitors, allow less than even ones."
)

NOTHING_ABOVE = f"Rates above {HIGH:g} of that were not tried; more connections (-c) may reach more."
NOTHING_BELOW = f"Rates below {LOW:g} of that were not tried; give this server a slower goal."


def goal_text(goal: Goal) -> str:
    """Return the goal as reports say it: ``p50 ≤ 10 ms and p99 ≤ 50 ms``."""
    return " and ".join(f"{label(name)} ≤ {DURATION.format(limit)}" for name, limit in goal.limits_s.items())


def missed(miss: Miss) -> str:
    """Say in a clause how a goal was missed."""
    match miss.what:
        case Missed.LATENCY:
            assert miss.quantile is not None
            return f"{label(miss.quantile)} was {'at least ' if miss.is_bound else ''}{DURATION.format(miss.value)}"
        case Missed.ERRORS:
            return f"{percent(miss.value)} failed or got a wrong answer"
        case Missed.UNSENT:
            return f"{percent(miss.value)} were never sent"
        case Missed.RIGHT_ANSWERS:
            return "there was no right answer"
        case Missed.KEEPING_UP:
            return "requests piled up"


def unknown(goal: Goal) -> str:
    """Say that a search ended before it found anything."""
    return f"Not known yet how many requests/s keep {goal_text(goal)}"


def none(goal: Goal, lowest_per_s: float) -> str:
    """Say that even the lowest rate missed the goal."""
    return f"Not even {number(lowest_per_s)} requests/s keep {goal_text(goal)}"


def capacity(goal: Goal, rate_per_s: float, *, at_least: bool) -> str:
    """Say which rate keeps the goal."""
    return f"{'At least ' if at_least else ''}{number(rate_per_s)} requests/s with {goal_text(goal)}"


def closed_loop(goal: Goal, ran: FinishedRun) -> str:
    """Say what a closed loop reached before the search."""
    latencies = ", ".join(f"{label(name)} {timed(ran.result.latency, name)}" for name in goal.limits_s)
    reached = f"{number(ran.result.throughput_per_s)}/s"
    return f"A closed loop of {count(ran.load.concurrency)} connections reached {reached}, with {latencies}."
