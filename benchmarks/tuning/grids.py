"""Grids of configurations whose launches can be drawn again and again: recorded ones, and made-up ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..method.noise import Array, Dice

__all__ = ["ROW", "Grid", "made_up", "recorded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Configurations with a known truth."""

    name: str
    places: Array
    """(K, D): steps."""
    mean: Array
    """(K,): the mean of ln(throughput) over launches, the truth of a replay."""
    residuals: tuple[Array, ...]
    """What launches of each lie beside that."""
    cost_s: Array
    """(K,): what a launch takes with all around it."""
    given: int
    """The number of the stack as given."""
    formula: int
    """That of two workers a core and one."""

    def draw(self, dice: Dice, chosen: Iterable[int]) -> Array:
        """Return one launch of each of ``chosen``, (K,), NaN for the others; a block's own weather adds to all."""
        values = np.full(len(self.mean), np.nan)
        weather = dice.normal(0, 0.03)
        for i in chosen:
            values[i] = self.mean[i] + dice.choice(self.residuals[i]) + weather
        return values

    def deployed(self, dice: Dice, index: int) -> float:
        """Return what one further launch of a configuration gives beside launches of others at the same time."""
        return float(self.mean[index] + dice.choice(self.residuals[index]))

    def regret(self, index: int) -> float:
        """Return how far a configuration is from the best, 0.03 for 3 %."""
        return float(1 - math.exp(self.mean[index] - self.mean.max()))


def recorded(name: str, rows: Iterable[Mapping[str, Any]], places: Mapping[str, tuple[float, ...]]) -> Grid:
    """Return the grid of recorded launches, those of all blocks that launched every configuration.

    A launch is drawn from a configuration's own residuals and from those of all, half and half: three launches
    alone do not tell how one scatters.
    """
    launches = [row for row in rows if row["pair"] == name and row["response"] is not None]
    paths = [path for path in places if any(row["stack"] == path for row in launches)]
    blocks = sorted({(row["race"], row["block"]) for row in launches})
    values = np.full((len(paths), len(blocks)), np.nan)
    cost = np.zeros(len(paths))
    for row in launches:
        if row["stack"] in paths:
            values[paths.index(row["stack"]), blocks.index((row["race"], row["block"]))] = row["response"]
            cost[paths.index(row["stack"])] = row["took_s"]
    # a block's weather is what it did to all
    values = values - (np.nanmean(values, axis=0) - np.nanmean(values))
    mean = np.nanmean(values, axis=1)
    own = [row[np.isfinite(row)] - m for row, m in zip(values, mean, strict=True)]
    wider = [r * math.sqrt(len(r) / (len(r) - 1)) for r in own if len(r) > 1]
    pool = np.concatenate(wider) if wider else np.zeros(1)
    draws = max(len(pool), 1)
    residuals = tuple(
        np.concatenate([np.resize(r * math.sqrt(len(r) / max(len(r) - 1, 1)), draws), pool]) if len(r) > 1 else pool
        for r in own
    )
    given, formula = (next((i for i, p in enumerate(paths) if _is(rows, name, p, what)), 0) for what in _REFERENCES)
    return Grid(
        name=name, places=np.array([places[p] for p in paths], dtype=float), mean=mean, residuals=residuals,
        cost_s=cost, given=given, formula=formula,
    )  # fmt: skip


_REFERENCES = ("default", "formula")


def _is(rows: Iterable[Mapping[str, Any]], name: str, path: str, reference: str) -> bool:
    return any(row["pair"] == name and row["stack"] == path and reference in row["references"] for row in rows)


WORKERS, THREADS = (1, 2, 3, 5, 9, 16), (1, 2, 4, 8, 16, 32)
ROW = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""The values of a single setting."""


def made_up(
    app: str,
    dice: Dice,
    *,
    sd: float,
    workers: Sequence[int] = WORKERS,
    threads: Sequence[int] = THREADS,
    connections: int = 100,
) -> Grid:
    """Return a grid of ``workers`` × ``threads`` with the response of an ``app``: cpu, database or mixed.

    By the bounds of a closed system: requests under way at once over the time of each, at most what the cores
    compute, less for every further worker and thread. Beside that each configuration is better or worse by 1 %. Of
    six one scatters: three launches of ten lose a quarter.
    """
    places, means, residuals, cost = [], [], [], []
    for i, processes in enumerate(workers):
        for j, each in enumerate(threads):
            slots = min(processes * each, connections)
            most = {"cpu": math.inf, "database": slots / 0.022, "mixed": slots / 0.012}[app]
            idle = 0.01 * math.log2(processes) + 0.02 * math.log2(each)
            cores = {"cpu": 400.0, "database": 1000.0, "mixed": 260.0}[app] * (1 - idle)
            rate = cores if math.isinf(most) else (most**-3 + cores**-3) ** (-1 / 3)
            places.append((float(i), float(j)))
            noise = dice.normal(0, sd, 60)
            if dice.random() < 1 / 6:
                noise = noise + np.where(dice.random(60) < 0.3, math.log(0.75), 0.0)
            means.append(math.log(rate) + dice.normal(0, 0.012) + noise.mean())
            residuals.append(noise - noise.mean())
            cost.append(2.5 + 0.1 * processes)
    return Grid(
        name=f"{app} {len(workers)} × {len(threads)}, sd {sd:.0%}",
        places=np.array(places),
        mean=np.array(means),
        residuals=tuple(residuals),
        cost_s=np.array(cost),
        given=workers.index(2) * len(threads),
        formula=workers.index(3) * len(threads),
    )
