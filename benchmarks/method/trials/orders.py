"""How often stacks are put in an order that is not theirs."""

from __future__ import annotations

import numpy as np

from stackrace.stats.selection import Selection, looks

from ..noise import Array
from . import DELTA
from .drawn import Cell, Chunk, chunks

__all__ = ["false_orders", "shown"]


def false_orders(cell: Cell, *, drops: bool) -> float:
    """Return the share of races in which tiers put a stack above another that is as fast or faster, at any look.

    Without ``drops`` for 40 blocks, as a ranking may take; with them until the race has its winner.
    """
    return sum(int(_false(chunk, drops).sum()) for chunk in chunks(cell)) / cell.races


def shown(seen: Selection) -> Array:
    """Return which pairs the tiers put in an order, (R, K, K): i above j."""
    with np.errstate(invalid="ignore"):
        return np.asarray(seen.order.estimate - seen.order.half_width > 0)


def _false(chunk: Chunk, drops: bool) -> Array:
    never = chunk.speeds[:, :, None] <= chunk.speeds[:, None, :]
    false = np.zeros(len(chunk.speeds), dtype=bool)
    over = np.zeros_like(false)
    for seen in looks(chunk.values, DELTA, drops=drops):
        false |= (shown(seen) & never).any(axis=(-2, -1)) & ~over
        over |= drops & (seen.winner >= 0)
    return false
