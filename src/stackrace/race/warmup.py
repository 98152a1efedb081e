"""Load a fresh stack until its throughput is steady."""

from __future__ import annotations

from dataclasses import replace

from ..deploy.place import Place
from ..model.race import Cell

__all__ = ["warm_up"]

STEP_S = 0.5
BINS_PER_POINT = 2
"""The engine's bins of 100 ms are joined to 200 ms: short enough to see a change, long enough to be calm."""


def warm_up(place: Place, cell: Cell, cap_s: float, *, least_s: float = 0.0) -> float:
    """Send a cell's load until the throughput is steady or ``cap_s`` is over; returns the seconds spent.

    It is looked every ``STEP_S``, or every ``least_s``: how long an answer takes, for a shorter step would end
    before anything is answered.
    """
    from ..stats.warmup import steadiness

    spent_s, step_s = 0.0, min(max(STEP_S, least_s), cap_s)
    rates: list[float] = []
    while spent_s + step_s <= cap_s + 1e-9:
        timed = replace(cell.load, duration_s=step_s, requests=None)
        result = place.load(cell.stack, cell.workload, timed, 0.0).result
        spent_s += step_s
        counts = [bin_.ok for bin_ in result.series]
        width = result.duration_s / max(len(counts), 1) * BINS_PER_POINT
        rates += [
            sum(counts[start : start + BINS_PER_POINT]) / width
            for start in range(0, len(counts) - BINS_PER_POINT + 1, BINS_PER_POINT)
        ]
        if place.failure_of(cell.stack) or steadiness(rates, width, least_s=min(3.0, cap_s / 2)).steady:
            break
    return spent_s
