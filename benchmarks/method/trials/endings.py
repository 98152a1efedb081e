"""When and how a race ends, on the clock of a schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stackrace.stats.pairs import Counts
from stackrace.stats.selection import looks

from ..noise import Array
from . import DELTA
from .orders import shown
from .schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How R races ended: the ``winner`` named in the budget, −1 for none, the ``seconds`` and ``blocks`` it took.

    Without a winner the seconds are the budget, and the blocks all whole ones within it. ``order`` is what its
    table shows then.
    """

    winner: Counts
    seconds: Array
    blocks: Counts
    order: Array


def ending(values: Array, schedule: Schedule, budget_s: float) -> Ending:
    """Race until a winner is named or the budget is spent; ``values`` are (R, K, B)."""
    races, k, _ = values.shape
    stacks = np.full(races, k)
    clock, blocks = np.full(races, schedule.before_s), np.zeros(races, dtype=np.int64)
    winner, seconds = np.full(races, -1), np.full(races, budget_s)
    order = np.zeros((races, k, k), dtype=bool)
    done = 0
    for seen in looks(values, DELTA):
        for block in range(done + 1, seen.blocks + 1):
            clock = clock + schedule.block_s(block, stacks)
            blocks = np.where((winner < 0) & (clock <= budget_s), block, blocks)
        racing = (winner < 0) & (clock <= budget_s)
        if not racing.any():
            break
        order = np.where(racing[:, None, None], shown(seen), order)
        new = racing & (seen.winner >= 0)
        winner, seconds = np.where(new, seen.winner, winner), np.where(new, clock, seconds)
        stacks, done = seen.left.sum(axis=-1), seen.blocks
    return Ending(winner=winner, seconds=seconds, blocks=blocks, order=order)
