"""A stack that is slowed by a known amount: when is it found?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stackrace.stats.judge import beats
from stackrace.stats.selection import looks

from ..noise import Array
from .answers import RULE, Schedule
from .drawn import LAST, Cell, chunks

MATTERS = math.log(1.02)
"""Differences above 2 % matter here."""

AFTER = (3, 5, 7, 10, 14, 20, 28, 40)
"""The numbers of launches by which the table says how many were found."""

_NEVER = LAST + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """``found`` is the share of races that put the slowed stack below the other by the launches of ``AFTER``.

    ``false`` is the share that ever put it above, ``seconds`` the median time to find it, infinite where most never
    do.
    """

    found: tuple[float, ...]
    false: float
    seconds: float


def power(cell: Cell, slower: float, *, schedule: Schedule = RULE) -> Power:
    """Race two stacks for a ranking, one ``slower``, 0.05 for 5 %."""
    speeds = np.array([[0.0], [math.log1p(-slower)]])
    found = [_first(_orders(chunk.values + speeds), len(chunk.values)) for chunk in chunks(cell)]
    right, wrong = (np.concatenate(each) for each in zip(*found, strict=True))
    return Power(
        found=tuple(float((right <= n).mean()) for n in AFTER),
        false=float((wrong < _NEVER).mean()),
        seconds=_seconds(int(np.median(right)), schedule),
    )


def _orders(values: Array) -> Iterator[tuple[int, Array]]:
    families = ((seen.blocks, seen.limits(ranking=True)) for seen in looks(values, MATTERS, drops=False))
    return ((blocks, beats(one.estimate, one.half_width)) for blocks, one in families)


def _first(orders: Iterator[tuple[int, Array]], races: int) -> tuple[Array, Array]:
    """Return after how many launches the second stack was first put below the other, and above; 41 for never."""
    right, wrong = np.full(races, _NEVER), np.full(races, _NEVER)
    for n, above in orders:
        right = np.where((right == _NEVER) & above[:, 0, 1], n, right)
        wrong = np.where((wrong == _NEVER) & above[:, 1, 0], n, wrong)
    return right, wrong


def _seconds(launches: int, schedule: Schedule) -> float:
    if launches == _NEVER:
        return math.inf
    both = np.array(2)
    return schedule.before_s + sum(float(schedule.block_s(block, both)) for block in range(1, launches + 1))
