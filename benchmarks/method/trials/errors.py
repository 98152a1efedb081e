"""Errors of simulated races: wrong winners, false orders, and false statements of races that a budget cuts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from stackrace.stats.judge import beats, ties
from stackrace.stats.pairs import Counts, Family
from stackrace.stats.selection import LOOKS, Selection, looks
from stackrace.stats.values import Question

from ..noise import Array
from .drawn import DELTA, LAST, Cell, Chunk, chunks

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


def false_orders(cell: Cell, question: Question) -> float:
    """Return the share of races whose limits put a stack above another that is as fast or faster, in the end.

    A race ends with its answer: a winner, or for a ranking when each pair has an order or is alike. Or its budget
    ends it before that. The share is the largest of all budgets of 2, 3 … 40 blocks.
    """
    false = sum(_false(chunk, question).sum(axis=0) for chunk in chunks(cell))
    return float(np.max(false)) / cell.races


def shown(seen: Selection) -> Array:
    """Return which pairs the limits of a race for a winner put in an order, (R, K, K): i above j."""
    family = seen.limits()
    return beats(family.estimate, family.half_width)


def _false(chunk: Chunk, question: Question) -> Array:
    """Tell of each race and budget whether the table shows a false order, (R, budgets)."""
    never = chunk.speeds[:, :, None] <= chunk.speeds[:, None, :]
    false = np.zeros((len(LOOKS), len(chunk.speeds)), dtype=bool)
    over = np.zeros(len(chunk.speeds), dtype=bool)
    now = over
    ranking = question is Question.RANKING
    for at, seen in enumerate(looks(chunk.values, DELTA, drops=not ranking)):
        family = seen.limits(ranking=ranking)
        order = beats(family.estimate, family.half_width)
        now = np.where(over, now, (order & never).any(axis=(-2, -1)))
        false[at] = now
        over = over | (_settled(family, order) if ranking else seen.winner >= 0)
    return false.T


def _settled(family: Family, order: Array) -> Array:
    tied = ties(family.estimate, family.half_width, DELTA)
    return np.asarray((order | np.swapaxes(order, -1, -2) | tied).all(axis=(-2, -1)))


ENDS = (*range(2, 11), 12)
"""The numbers of blocks after which a budget ends, all of them planned looks."""

UNPLANNED = (*range(2, 12),)
"""The same with an end that is no planned look: every second chunk of races has these."""

_NOTHING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Races of a cell, each cut after 2, 3, … 10 blocks and after 11 or 12.

    ``open`` is the share of ends without an answer, ``beyond`` the share of those at which the leader is further
    behind the best than "at most 7 % behind" says. ``false`` is the share of races that say anything false at the
    end where most do: a winner over δ behind the best, or such a limit.
    """

    open: float
    beyond: float
    false: float


@dataclass(frozen=True, slots=True)
class _Ends:
    """How many ``races`` were cut after so many blocks, and how many are open, beyond, wrong."""

    races: int = 0
    open: int = 0
    beyond: int = 0
    wrong: int = 0

    def __add__(self, other: _Ends) -> _Ends:
        return _Ends(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)})


def cut(cell: Cell) -> Cut:
    """Cut each race after every number of blocks in turn."""
    ends: dict[int, _Ends] = {}
    for at, chunk in enumerate(chunks(cell, ENDS[-1])):
        for blocks, one in _ends(chunk, (ENDS, UNPLANNED)[at % 2][-1]):
            ends[blocks] = ends.get(blocks, _Ends()) + one
    whole = sum(ends.values(), _Ends())
    return Cut(
        open=whole.open / whole.races,
        beyond=whole.beyond / max(whole.open, 1),
        false=max((one.beyond + one.wrong) / one.races for one in ends.values()),
    )


def _ends(chunk: Chunk, last: int) -> Iterator[tuple[int, _Ends]]:
    """Give what is said after every number of blocks up to the ``last``."""
    named = np.full(len(chunk.values), -1)
    for seen in looks(chunk.values[..., :last], DELTA):
        named = np.where(named >= 0, named, seen.winner)
        open_ = named < 0
        behind = seen.ahead().max(axis=-1)
        beyond = open_ & (_of(chunk.lag, seen.leader) > behind + _NOTHING)
        wrong = ~open_ & (_of(chunk.lag, np.maximum(named, 0)) > DELTA)
        counts = (int(each.sum()) for each in (open_, beyond, wrong))
        yield seen.blocks, _Ends(len(named), *counts)


def _of(rows: Array, stack: Array) -> Array:
    return np.asarray(rows[np.arange(len(rows)), stack])
