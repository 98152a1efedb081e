"""One table: what it measures, and its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..shares import upper_bound

MOST, BOUND = 0.05, 0.065
"""The goal of all errors: at most so many of the races, and the upper bound of their share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row as printed, and which cells with a goal are ``kept``."""

    cells: tuple[str, ...]
    kept: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A table: ``measured`` says what is counted and what the goal is; ``rows`` takes the number of races.

    ``fewer`` times fewer races than elsewhere do for it.
    """

    title: str
    measured: str
    columns: tuple[str, ...]
    rows: Callable[[int], Iterator[Row]]
    fewer: int = 1


def holds(share: float, races: int) -> bool:
    """Tell whether an error is as rare as the goal wants it."""
    return share <= MOST and upper_bound(share, races) <= BOUND


def bounded(share: float, races: int) -> str:
    """Return a share in per cent with its upper bound, in bold where it misses the goal."""
    text = f"{100 * share:.1f} ({100 * upper_bound(share, races):.1f})"
    return text if holds(share, races) else f"**{text}**"


def percent(share: float, digits: int = 0) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.{digits}f}"


def seconds(value: float) -> str:
    """Return a time, "–" for never."""
    return f"{value:.0f} s" if math.isfinite(value) else "–"
