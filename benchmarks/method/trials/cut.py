"""Races whose budget ends before the answer: is the leader as near to the best as they say?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from stackrace.stats.selection import looks

from ..noise import Array
from . import DELTA
from .drawn import Cell, Chunk, chunks

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
