"""Grids of configurations whose launches can be drawn again and again: recorded ones, and made-up ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from stackrace.features.tune.speed_effect import Slices, speed_effect
from stackrace.features.tune.tuning_preparation import TOGETHER

from ..method.noise import Array, Dice

LOADED_S = 0.65
"""From one slice to the next, of stacks that are up together."""
PASSES = 2
"""Slices of each launch."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """A block of launches; NaN for configurations that were not launched."""

    values: Array
    """(K, ``PASSES``): ln(throughput) of the slices."""
    moments_s: Array
    """(K, ``PASSES``): when each was loaded."""
    speed: Array
    """(K,): the machine's at that launch, in ln units; a value has it times the configuration's ``busy``."""


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
    busy: Array
    """(K,): the share of the cores that each keeps busy."""
    swing: float = 0.0
    """The sd of the machine's speed within a block, in ln units."""
    span_s: float = 20.0
    """After so many seconds it remembers a third of what it was."""
    slice: float = 0.0
    """The sd of a slice."""
    paths: tuple[str, ...] = ()
    """(K,): the configurations of a recorded grid."""

    def draw(self, dice: Dice, chosen: Iterable[int]) -> Drawn:
        """Return a block: one launch of each of ``chosen``.

        The block's own weather adds to all; within it the speed is an Ornstein-Uhlenbeck process. As in a race, the
        order is drawn, ``TOGETHER`` at most are up at once, and those are loaded one right after another, twice.
        """
        shape = len(self.mean), PASSES
        values, moments_s, speeds = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)
        order = dice.permutation(list(chosen))
        block, speed, now, before = dice.normal(0, 0.03), dice.normal(0, self.swing), 0.0, 0.0
        for batch in np.array_split(order, math.ceil(len(order) / TOGETHER)):
            now += sum(max(float(self.cost_s[i]) - PASSES * LOADED_S, 0.0) for i in batch)
            own = {i: self.deployed(dice, i) for i in batch}
            for turn in range(PASSES):
                for i in dice.permutation(batch):
                    now += LOADED_S
                    kept = math.exp(-(now - before) / self.span_s)
                    speed, before = kept * speed + math.sqrt(1 - kept**2) * dice.normal(0, self.swing), now
                    speeds[i, turn], moments_s[i, turn] = block + speed, now
                    values[i, turn] = own[i] + self.busy[i] * (block + speed) + dice.normal(0, self.slice)
        return Drawn(values=values, moments_s=moments_s, speed=speeds.mean(axis=1))

    def deployed(self, dice: Dice, index: int) -> float:
        """Return what one further launch of a configuration gives beside launches of others at the same time."""
        return float(self.mean[index] + dice.choice(self.residuals[index]))

    def regret(self, index: int) -> float:
        """Return how far a configuration is from the best, 0.03 for 3 %."""
        return float(1 - math.exp(self.mean[index] - self.mean.max()))


def recorded(name: str, rows: Iterable[Mapping[str, Any]], places: Mapping[str, tuple[float, ...]]) -> Grid:
    """Return the grid of recorded launches, those of all blocks that launched every configuration.

    What the machine's speed did within a block is taken off first (`speed_effect`), and drawn anew with as large a
    swing, and so are slices. What is left of the residuals is scaled to what launches vary by. A launch is drawn
    from a configuration's own residuals and from those of all, half and half: three alone do not tell how one
    scatters.
    """
    # who left its core is not believed: the check for that came after these were recorded
    launches = [row for row in rows if row["pair"] == name and row["slices"] and _cores(row) < 1.1]
    paths = [path for path in places if any(row["stack"] == path for row in launches)]
    blocks = sorted({(row["race"], row["block"]) for row in launches})
    values, cost = np.full((len(paths), len(blocks)), np.nan), np.zeros(len(paths))
    each: list[tuple[float, float, float, int, int]] = []
    for row in launches:
        if row["stack"] in paths:
            i, j = paths.index(row["stack"]), blocks.index((row["race"], row["block"]))
            # the stack had one core
            each += [(gave, at_s, min(_cores(row), 1.0), i, j) for at_s, gave, _ in row["slices"]]
            values[i, j], cost[i] = row["response"], row["took_s"]
    slices = Slices.of(each)
    there = np.array([places[path] for path in paths], dtype=float)
    felt, changes = speed_effect(slices, there, len(blocks))
    values = values - felt
    # a block's own weather is what it did to all
    values = values - (np.nanmean(values, axis=0) - np.nanmean(values))
    mean = np.nanmean(values, axis=1)
    own = [row[np.isfinite(row)] - m for row, m in zip(values, mean, strict=True)]
    wider = [r * math.sqrt(len(r) / (len(r) - 1)) if len(r) > 1 else r[:0] for r in own]
    pool = np.concatenate([*wider, np.zeros(1)])
    scale = min(changes["launch"] / max(float(np.std(pool)), 1e-9), 1.0)
    residuals = tuple(scale * (np.concatenate([np.resize(r, len(pool)), pool]) if len(r) else pool) for r in wider)
    given, formula = (next((i for i, p in enumerate(paths) if _is(rows, name, p, what)), 0) for what in _REFERENCES)
    return Grid(
        name=name, places=there, mean=mean, residuals=residuals, cost_s=cost, given=given, formula=formula,
        busy=np.array([slices.busy[slices.rows == i].mean() for i in range(len(paths))]),
        swing=changes["swing"], span_s=changes["span_s"], slice=changes["slice"],
        paths=tuple(paths),
    )  # fmt: skip


def _cores(row: Mapping[str, Any]) -> float:
    return fmean(cores for _, _, cores in row["slices"])


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
    swing: float = 0.0,
) -> Grid:
    """Return a grid of ``workers`` × ``threads`` with the response of an ``app``: cpu, database or mixed.

    By the bounds of a closed system: requests under way at once over the time of each, at most what the cores
    compute, less for every further worker and thread. Beside that each configuration is better or worse by 1 %. Of
    six one scatters: three launches of ten lose a quarter. ``swing`` is as in a grid.
    """
    places, means, residuals, cost, busy = [], [], [], [], []
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
            busy.append(rate / cores)
    return Grid(
        name=f"{app} {len(workers)} × {len(threads)}, sd {sd:.0%}" + (f", swing {swing:.0%}" if swing else ""),
        places=np.array(places),
        mean=np.array(means),
        residuals=tuple(residuals),
        cost_s=np.array(cost),
        given=workers.index(2) * len(threads),
        formula=workers.index(3) * len(threads),
        busy=np.array(busy),
        swing=swing,
    )
