"""How many races are answered within their budget, after how long, and how often falsely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..noise import Array
from . import DELTA
from .drawn import LAST, Cell, Chunk, chunks
from .endings import Ending, ending
from .schedule import BUDGET_S, Schedule

APART = math.log(1.03)
"""Pairs further apart than this should not be shown the wrong way round by anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Shares of races: ``answered`` in the budget; ``wrong``: a winner over δ behind the best; ``reversed``: a pair
    over 3 % apart is shown the wrong way round. ``seconds`` is the median, infinite where most have no answer.
    """

    answered: float
    wrong: float
    reversed: float
    seconds: float


def answers(cell: Cell, schedule: Schedule, budget_s: float = BUDGET_S) -> Answers:
    """Race by the clock. The cell's sd is that of a launch with one slice of half a second."""
    found = [_raced(chunk, cell.sd, schedule, budget_s) for chunk in chunks(cell)]
    named, behind, seconds, turned = (np.concatenate(each) for each in zip(*found, strict=True))
    return Answers(
        answered=float(named.mean()),
        wrong=float((behind > DELTA).mean()),
        reversed=float(turned.mean()),
        seconds=float(np.median(np.where(named, seconds, np.inf))),
    )


def reversed_(order: Array, speeds: Array) -> Array:
    """Tell of each race whether ``order`` has some pair that is over 3 % apart the wrong way round."""
    return np.asarray((order & (speeds[:, :, None] - speeds[:, None, :] < -APART)).any(axis=(-2, -1)))


def _raced(chunk: Chunk, sd: float, schedule: Schedule, budget_s: float) -> Sequence[Array]:
    """Return of each race: was a winner named, how far behind the best it is, when, and is a pair reversed."""
    seen = ending(_scaled(chunk, sd, schedule), schedule, budget_s)
    return seen.winner >= 0, _behind(chunk, seen), seen.seconds, reversed_(seen.order, chunk.speeds)


def _behind(chunk: Chunk, seen: Ending) -> Array:
    lag = np.take_along_axis(chunk.lag, np.maximum(seen.winner, 0)[:, None], axis=-1)[:, 0]
    return np.where(seen.winner >= 0, lag, 0.0)


def _scaled(chunk: Chunk, sd: float, schedule: Schedule) -> Array:
    """Return the values with the noise that the slices of each block leave."""
    factors = np.array([schedule.sd(block, sd) for block in range(1, LAST + 1)]) / sd
    speeds = chunk.speeds[..., None]
    return np.asarray(speeds + (chunk.values - speeds) * factors)
