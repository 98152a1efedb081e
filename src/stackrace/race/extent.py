"""How much there is to do in one pass: how many stacks, and how many cells that the answer speaks of or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .results.race import Cell

__all__ = ["Extent", "extent_of", "headline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much there is to do in one pass."""

    stacks: int
    headline: int
    """The cells that the answer speaks of, at least one."""
    sides: int = 0
    """All other cells."""


def headline(cells: Sequence[Cell]) -> Cell:
    """Return a cell of the level that the answer speaks of: the first workload at its highest concurrency."""
    first = cells[0].workload.name
    return max((cell for cell in cells if cell.workload.name == first), key=lambda cell: cell.load.concurrency)


def extent_of(cells: Sequence[Cell], *, alike: bool = False) -> Extent:
    """Return how much there is to do in one pass over ``cells``; where they are all ``alike`` none is beside."""
    level = headline(cells).level
    ahead = sum(alike or cell.level == level for cell in cells)
    return Extent(stacks=len({cell.stack for cell in cells}), headline=ahead, sides=len(cells) - ahead)
