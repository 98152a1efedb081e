"""Who is named the winner, and how often that is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stackrace.stats.pairs import Counts
from stackrace.stats.selection import looks

from ..noise import Array
from . import DELTA
from .drawn import LAST, Cell, chunks

_STAGES = (6, 12, LAST)
"""Most races are over soon: only those that are not go on to the next stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Winners:
    """Of the races of a cell, the share ``answered`` within 40 launches, and ``wrong``: over δ behind the best.

    ``blocks`` is the median number of launches of each stack, 40 for races without an answer.
    """

    answered: float
    wrong: float
    blocks: float


def winners(cell: Cell) -> Winners:
    """Race until somebody is named."""
    wrong, ends = [], []
    for chunk in chunks(cell):
        named, blocks = first_named(chunk.values)
        behind = np.take_along_axis(chunk.lag, np.maximum(named, 0)[:, None], axis=-1)[:, 0]
        wrong.append((named >= 0) & (behind > DELTA))
        ends.append(np.where(named >= 0, blocks, LAST + 1))
    end = np.concatenate(ends)
    return Winners(
        answered=float((end <= LAST).mean()),
        wrong=float(np.concatenate(wrong).mean()),
        blocks=float(np.median(np.minimum(end, LAST))),
    )


def first_named(values: Array, delta: float = DELTA) -> tuple[Counts, Counts]:
    """Return the first winner of each race, −1 for none, and the number of blocks it took, (R,) each."""
    named, blocks = np.full(len(values), -1), np.full(len(values), values.shape[-1])
    for stage in _STAGES:
        still = np.flatnonzero(named < 0)
        for seen in looks(values[still, :, :stage], delta) if len(still) else ():
            new = (named[still] < 0) & (seen.winner >= 0)
            named[still[new]], blocks[still[new]] = seen.winner[new], seen.blocks
    return named, blocks
