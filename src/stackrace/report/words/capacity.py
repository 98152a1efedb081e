"""What a search for capacity found."""

from __future__ import annotations

from ...load.goal import Goal, label
from ...load.ran import Ran
from ...model.numbers import count, number
from ...stats.capacity import HIGH, LOW
from ..figures import timed

__all__ = ["CAVEAT", "NOTHING_ABOVE", "NOTHING_BELOW", "capacity", "closed_loop", "none", "unknown"]

CAVEAT = (
    "One start of the server: what differs between two starts, or two hours of a machine, this does not show. "
    "Random arrivals leave less room than even ones, as real visitors do."
)

NOTHING_ABOVE = f"Nothing above {HIGH:g} of that was tried; more connections (-c) may show more."
NOTHING_BELOW = f"Nothing below {LOW:g} of that was tried; a slower goal may be what this server can keep."


def unknown(goal: Goal) -> str:
    """Say that a search ended before it found anything."""
    return f"Not known yet how many requests/s keep {goal.text}"


def none(goal: Goal, lowest_per_s: float) -> str:
    """Say that even the lowest rate missed the goal."""
    return f"Not even {number(lowest_per_s)} requests/s keep {goal.text}"


def capacity(goal: Goal, rate_per_s: float, *, at_least: bool) -> str:
    """Say which rate keeps the goal."""
    return f"{'At least ' if at_least else ''}{number(rate_per_s)} requests/s with {goal.text}"


def closed_loop(goal: Goal, ran: Ran) -> str:
    """Say what a closed loop reached before the search."""
    latencies = ", ".join(f"{label(name)} {timed(ran.result.latency, name)}" for name in goal.limits_s)
    reached = f"{number(ran.result.throughput_per_s)}/s"
    return f"A closed loop of {count(ran.load.concurrency)} connections reached {reached}, with {latencies}."
