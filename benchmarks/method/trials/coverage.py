"""Do the limits that a report prints beside a ratio hold the truth?"""

from __future__ import annotations

import math

import numpy as np

from stackrace.stats.selection import selected

from ..noise import Array
from . import DELTA
from .drawn import Cell, Chunk, chunks
from .endings import ending
from .schedule import BUDGET_S, RULE

__all__ = ["coverage"]


def coverage(cell: Cell) -> float:
    """Return the share of rows, every stack against the leader at the end of its race, whose 95 % limits hold it.

    A race ends with its winner, or after 180 s of the default schedule.
    """
    held = np.concatenate([_held(chunk) for chunk in chunks(cell)])
    return float(held.mean()) if len(held) else math.nan


def _held(chunk: Chunk) -> Array:
    ends = ending(chunk.values, RULE, BUDGET_S).blocks
    return np.concatenate([_rows(chunk, ends == n, int(n)) for n in np.unique(ends)])


def _rows(chunk: Chunk, races: Array, blocks: int) -> Array:
    """Tell of every stack but the leader, in those races after so many blocks, if its limits hold the truth.

    A row without limits, since launches are missing, tells nothing.
    """
    seen = selected(chunk.values[races, :, :blocks], DELTA)
    each, leader = np.arange(len(seen.leader)), seen.leader
    true = chunk.speeds[races][each, leader][:, None] - chunk.speeds[races]
    half = seen.each.half_width[each, leader]
    holds = np.abs(seen.each.estimate[each, leader] - true) <= half
    others = (np.arange(holds.shape[-1]) != leader[:, None]) & np.isfinite(half)
    return np.asarray(holds[others])
