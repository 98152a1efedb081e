"""Every search replayed many times on a grid: its regret, its share of the time, and its winners deployed again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..rig.tables import markdown
from .grids import Grid
from .searches import SEARCHES, Found, exhaustive

EXHAUSTIVE = 8
"""Launches of each configuration in an exhaustive grid: about as many as tuning gives its winner."""
SHARE = 0.25
"""The share of the exhaustive grid's time that every search has."""
LOST = 0.1
"""A winner loses by so much of what it promised."""

GOALS = "regret ≤ 3 % in ≤ 25 % of the exhaustive grid's time; ≤ 1 of 20 winners loses 10 % when deployed again"

Figures = Mapping[str, float]


def replayed(grid: Grid, replays: int, seed: int = 1) -> dict[str, Figures]:
    """Return the figures of every search, by its name."""
    whole_s = EXHAUSTIVE * float(grid.cost_s.sum())
    found = {
        name: [search(grid, np.random.default_rng([seed, r, n]), SHARE * whole_s) for r in range(replays)]
        for n, (name, search) in enumerate(SEARCHES.items())
    }
    found["exhaustive"] = [
        exhaustive(grid, np.random.default_rng([seed, r, 99]), EXHAUSTIVE) for r in range(replays)
    ]
    figures: dict[str, Figures] = {}
    for name, all_found in found.items():
        regrets = [grid.regret(one.index) for one in all_found]
        dice = np.random.default_rng([seed, 7])
        again = [grid.deployed(dice, one.index) - one.said for one in all_found for _ in range(5)]
        figures[name] = {
            "regret": float(np.mean(regrets)),
            "regret p90": float(np.quantile(regrets, 0.9)),
            "share": float(np.mean([one.spent_s for one in all_found])) / whole_s,
            "lost": float(np.mean([value < math.log(1 - LOST) for value in again])),
            "held": _held(all_found),
        }
    return figures


def _held(found: Sequence[Found]) -> float:
    """Return how often limits against the default held the truth; NaN for searches that say none."""
    said = [one.limits for one in found if one.limits is not None]
    return float(np.mean(said)) if said else math.nan


COLUMNS = ("grid", "search", "regret, mean", "regret, 90 %", "share of the grid's time", "winners that lose 10 %",
           "limits hold")  # fmt: skip


def table(results: Iterable[tuple[str, Mapping[str, Figures]]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield markdown(COLUMNS)
    yield markdown(["---"] * len(COLUMNS))
    for name, searches in results:
        for search, one in searches.items():
            figures = (one[key] for key in ("regret", "regret p90", "share", "lost", "held"))
            yield markdown(
                [name, search, *("–" if math.isnan(each) else f"{100 * each:.1f} %" for each in figures)]
            )
