"""Races on the clock of a schedule: how many are answered, when, how often falsely; and customary experiments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stackrace.stats.pairs import Counts
from stackrace.stats.selection import looks

from ..noise import Array, sequence
from .drawn import DELTA, LAST, Cell, Chunk, chunks
from .errors import shown

BUDGET_S = 180.0
"""The default budget of a race."""

WITHIN = 0.8
"""The part of a launch's variance, with one slice of half a second, that is the slice's own."""

USUAL_SLICE_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One race's blocks.

    A launch takes ``launch_s`` to start, warm up and stop, and ``gap_s`` beside each slice. Every stack of a block
    has ``passes`` slices of ``slice_s`` at the level that decides: so many in block 1, 2, 3 …, the last number from
    then on. Each of the other ``levels`` − 1 has one of ``side_slice_s`` in the first ``side_blocks``. A twin of
    one stack runs in the first ``twin_blocks``. ``before_s`` passes before the first block.

    The variance of a launch's value is sd²·(0.2 + 0.8·(0.5 s/slice)^``white``/passes): with ``white`` 1 a slice of
    twice the length is worth two, with 0 it is worth no more than one, as where a machine's speed flickers
    (docs/decisions/0030-short-slices-many-turns.md).
    """

    launch_s: float = 0.9
    gap_s: float = 0.2
    slice_s: float = 0.2
    passes: tuple[int, ...] = (2,)
    levels: int = 3
    side_slice_s: float = 0.2
    side_blocks: int = 1
    twin_blocks: int = 3
    before_s: float = 4.0
    white: float = 0.0

    def passes_of(self, block: int) -> int:
        """Return the number of slices a launch has in that block, the first being 1."""
        return self.passes[min(block, len(self.passes)) - 1]

    def block_s(self, block: int, stacks: Counts) -> Array:
        """Return how long that block takes with so many stacks still in."""
        sides = self.levels - 1 if block <= self.side_blocks else 0
        slices_s = self.passes_of(block) * (self.slice_s + self.gap_s)
        beside_s = sides * (self.side_slice_s + self.gap_s)
        launches = stacks + (1 if block <= self.twin_blocks else 0)
        return launches * (self.launch_s + slices_s + beside_s)

    def sd(self, block: int, usual: float) -> float:
        """Return the sd of a launch's value, ``usual`` being that with one slice of half a second."""
        within = WITHIN * (USUAL_SLICE_S / self.slice_s) ** self.white / self.passes_of(block)
        return float(usual * (1 - WITHIN + within) ** 0.5)


RULE = Schedule()
"""The default race."""


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


_PAIR = math.log(1.03)
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
    return np.asarray((order & (speeds[:, :, None] - speeds[:, None, :] < -_PAIR)).any(axis=(-2, -1)))


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


RUNS = 3

CUSTOMS = {"means of three": np.mean, "best of three": np.max}


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    """Shares of experiments that name a stack over δ behind the best, ``wrong``, and that show some pair over 3 %
    apart the wrong way round, ``reversed``.
    """

    wrong: float
    reversed: float


def customs(cell: Cell) -> dict[str, Custom]:
    """Measure each stack three times in a row, and believe the figures, as most published comparisons do."""
    told: dict[str, list[tuple[Array, Array]]] = {name: [] for name in CUSTOMS}
    for chunk in chunks(cell, RUNS):
        noise = sequence(cell.model, chunk.dice, len(chunk.speeds), cell.stacks, RUNS, cell.sd)
        runs = chunk.speeds[..., None] + noise
        for name, figure in CUSTOMS.items():
            told[name].append(_believed(figure(runs, axis=-1), chunk.speeds))
    return {name: _shares(rows) for name, rows in told.items()}


def _believed(figures: Array, speeds: Array) -> tuple[Array, Array]:
    named = figures.argmax(axis=-1)
    behind = speeds.max(axis=-1) - np.take_along_axis(speeds, named[:, None], axis=-1)[:, 0]
    return behind > DELTA, reversed_(figures[:, :, None] > figures[:, None, :], speeds)


def _shares(rows: list[tuple[Array, Array]]) -> Custom:
    wrong, turned = (np.concatenate(each) for each in zip(*rows, strict=True))
    return Custom(wrong=float(wrong.mean()), reversed=float(turned.mean()))
