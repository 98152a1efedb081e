"""Configurations and their measurements, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....stats.pairs import Array
from .weather import Slices, weather

__all__ = ["Flags", "Grid", "grid_of"]

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """K configurations in B blocks, on a grid of D settings."""

    values: Array
    """(K, B): the response in ln units by block, without the machine's weather; NaN where a configuration was not
    launched, or gave nothing."""
    entered: Flags
    """(K, B): whether it was launched."""
    places: Array
    """(K, D): steps on the grid, NaN off it."""
    delta: float
    """The difference that does not matter, in ln units."""
    references: tuple[int, ...] = ()
    """Those that the best one is compared with: they race again beside the finalists."""
    out: tuple[int, ...] = ()
    """Those that are not possible, or failed."""
    strangers: tuple[int, ...] = ()
    """References that are none of the configurations: they are compared with, and never chosen."""
    reserve: tuple[int, ...] = ()
    """Configurations beyond the usual values: they race only where the best lies at that end."""

    @property
    def waiting(self) -> tuple[int, ...]:
        """Those of the reserve that were never launched."""
        return tuple(i for i in self.reserve if not self.entered[i].any())

    @property
    def field(self) -> int:
        """How many configurations there are to choose from."""
        return len(self.values) - len(self.strangers) - len(self.waiting)


def grid_of(
    *,
    values: Sequence[Sequence[float]],
    entered: Sequence[Sequence[bool]],
    places: Sequence[Sequence[float]],
    delta: float,
    slices: Slices | None = None,
    references: tuple[int, ...] = (),
    out: tuple[int, ...] = (),
    strangers: tuple[int, ...] = (),
    reserve: tuple[int, ...] = (),
) -> Grid:
    """Return the arrays of what lists hold, a row for each configuration.

    Given the ``slices`` that the values are means of, the machine's own changes of speed are taken off (`weather`).
    """
    k = len(places)
    measured = np.asarray(values, dtype=float).reshape(k, -1)
    where = np.asarray(places, dtype=float).reshape(k, -1)
    if slices is not None:
        measured = measured - weather(slices, where).felt
    return Grid(
        values=measured,
        entered=np.asarray(entered, dtype=bool).reshape(k, -1),
        places=where,
        delta=delta,
        references=references,
        out=out,
        strangers=strangers,
        reserve=reserve,
    )
