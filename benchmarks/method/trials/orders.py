"""How often a table puts stacks in an order that is not theirs."""

from __future__ import annotations

import numpy as np

from stackrace.stats.judge import beats, ties
from stackrace.stats.pairs import Family
from stackrace.stats.selection import LOOKS, Selection, looks
from stackrace.stats.values import Question

from ..noise import Array
from . import DELTA
from .drawn import Cell, Chunk, chunks


def false_orders(cell: Cell, question: Question, alpha: float | None = None) -> float:
    """Return the share of races whose limits put a stack above another that is as fast or faster, in the end.

    A race ends with its answer: a winner, or for a ranking when each pair has an order or is alike. Or its budget
    ends it before that. The share is the largest of all budgets of 2, 3 … 40 blocks. ``alpha`` is what the limits
    leave out, if it is another level than
    that of the product.
    """
    false = sum(_false(chunk, question, alpha).sum(axis=0) for chunk in chunks(cell))
    return float(np.max(false)) / cell.races


def shown(seen: Selection) -> Array:
    """Return which pairs the limits of a race for a winner put in an order, (R, K, K): i above j."""
    family = seen.limits()
    return beats(family.estimate, family.half_width)


def _false(chunk: Chunk, question: Question, alpha: float | None) -> Array:
    """Tell of each race and budget whether the table shows a false order, (R, budgets)."""
    never = chunk.speeds[:, :, None] <= chunk.speeds[:, None, :]
    false = np.zeros((len(LOOKS), len(chunk.speeds)), dtype=bool)
    over = np.zeros(len(chunk.speeds), dtype=bool)
    now = over
    ranking = question is Question.RANKING
    for at, seen in enumerate(looks(chunk.values, DELTA, drops=not ranking)):
        family = seen.limits(ranking=ranking, alpha=alpha)
        order = beats(family.estimate, family.half_width)
        now = np.where(over, now, (order & never).any(axis=(-2, -1)))
        false[at] = now
        over = over | (_settled(family, order) if ranking else seen.winner >= 0)
    return false.T


def _settled(family: Family, order: Array) -> Array:
    tied = ties(family.estimate, family.half_width, DELTA)
    return np.asarray((order | np.swapaxes(order, -1, -2) | tied).all(axis=(-2, -1)))
