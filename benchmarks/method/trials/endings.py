"""When and how a race ends, by either rule, on the clock of a schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from stackrace.stats.allpairs import looks as allpairs
from stackrace.stats.pairs import Counts
from stackrace.stats.selection import looks
from stackrace.stats.tiers import closure

from ..noise import Array
from . import DELTA
from .orders import shown
from .schedule import Schedule

__all__ = ["Ending", "Seen", "by_all_pairs", "by_selection", "ending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a rule has after some blocks, of R races: stacks still in, the winner (−1), and the order it shows."""

    blocks: int
    left: Array
    winner: Counts
    order: Array


Rule = Callable[[Array], Iterator[Seen]]


def by_selection(values: Array) -> Iterator[Seen]:
    """Look as races do now."""
    for one in looks(values, DELTA):
        yield Seen(blocks=one.blocks, left=one.left, winner=one.winner, order=shown(one))


def by_all_pairs(values: Array) -> Iterator[Seen]:
    """Look as races did before: all pairs, after 5, 7, 10 … blocks; who is beaten leaves, and its pairs stay.

    Source: `allpairs.followed` and `tiers.winners`, for many races at once.
    """
    k = values.shape[-2]
    left = np.ones(values.shape[:-1], dtype=bool)
    estimate, half = np.full((*left.shape, k), np.nan), np.full((*left.shape, k), np.inf)
    for n in (n for n in allpairs.LOOKS if n <= values.shape[-1]):
        family = allpairs.look(values[..., :n])
        both = left[..., :, None] & left[..., None, :]
        estimate, half = np.where(both, family.estimate, estimate), np.where(both, family.half_width, half)
        order = _above(estimate > half)
        left = left & ~order.any(axis=-2)
        yield Seen(blocks=n, left=left, winner=_winner(estimate, half, order), order=order)


def _above(beating: Array) -> Array:
    reached = closure(beating)
    return np.asarray(reached & ~np.swapaxes(reached, -1, -2))


def _winner(estimate: Array, half: Array, order: Array) -> Counts:
    """Return the stack that `tiers.winners` names, the one with the best worst estimate of several; −1 for none."""
    k = estimate.shape[-1]
    near = (estimate - half > -DELTA) | np.eye(k, dtype=bool)
    through = (near.astype(np.int64) @ order.astype(np.int64)) > 0
    good = (near | through | order).all(axis=-1)
    worst = np.where(np.eye(k, dtype=bool), np.inf, np.nan_to_num(estimate, nan=-np.inf)).min(axis=-1)
    return np.where(good.any(axis=-1), np.where(good, worst, -np.inf).argmax(axis=-1), -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How R races ended: the ``winner`` named in the budget, −1 for none, the ``seconds`` and ``blocks`` it took.

    Without a winner the seconds are the budget, and the blocks all whole ones within it. ``order`` is what any look
    until then showed.
    """

    winner: Counts
    seconds: Array
    blocks: Counts
    order: Array


def ending(values: Array, schedule: Schedule, budget_s: float, rule: Rule = by_selection) -> Ending:
    """Race until a winner is named or the budget is spent; ``values`` are (R, K, B)."""
    races, k, _ = values.shape
    stacks = np.full(races, k)
    clock, blocks = np.full(races, schedule.before_s), np.zeros(races, dtype=np.int64)
    winner, seconds = np.full(races, -1), np.full(races, budget_s)
    order = np.zeros((races, k, k), dtype=bool)
    done = 0
    for seen in rule(values):
        for block in range(done + 1, seen.blocks + 1):
            clock = clock + schedule.block_s(block, stacks)
            blocks = np.where((winner < 0) & (clock <= budget_s), block, blocks)
        racing = (winner < 0) & (clock <= budget_s)
        if not racing.any():
            break
        order |= seen.order & racing[:, None, None]
        new = racing & (seen.winner >= 0)
        winner, seconds = np.where(new, seen.winner, winner), np.where(new, clock, seconds)
        stacks, done = seen.left.sum(axis=-1), seen.blocks
    return Ending(winner=winner, seconds=seconds, blocks=blocks, order=order)
