"""Ways to look for the best configuration in so much time, all on the same grid: ours, and those it is held to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stackrace.stats.tuning.grid import grid_of
from stackrace.stats.tuning.proposing import proposer, require_sampler
from stackrace.stats.tuning.rounds import AT_ONCE, next_round
from stackrace.stats.tuning.verdict import verdict

from ..method.noise import Dice
from .grids import Grid

__all__ = ["SEARCHES", "Found", "exhaustive"]

DELTA = math.log(1.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search chose."""

    index: int
    said: float
    """The ln(throughput) that it promises."""
    spent_s: float


Search = Callable[[Grid, Dice, float], Found]


def ours(grid: Grid, dice: Dice, budget_s: float) -> Found:
    """Tune: the very functions that decide in a race."""
    k = len(grid.mean)
    values, spent_s = np.full((k, 0), np.nan), 0.0
    launches = 0
    references = tuple(sorted({grid.given, grid.formula}))
    while True:
        each_s = spent_s / launches if launches else float(grid.cost_s.mean())
        now = grid_of(
            values=values, entered=np.isfinite(values), places=grid.places, delta=DELTA, references=references
        )
        propose = proposer(grid.places, launches) if k > AT_ONCE else None
        racing = next_round(now, (budget_s - spent_s) / each_s, propose).racing
        block_s = float(grid.cost_s[list(racing)].sum())
        if not racing or spent_s + block_s > budget_s:
            break
        values = np.column_stack([values, grid.draw(dice, racing)])
        spent_s, launches = spent_s + block_s, launches + len(racing)
    chosen = verdict(now)
    assert chosen.value is not None
    return Found(index=chosen.index, said=math.log(chosen.value.value), spent_s=spent_s)


def random_search(grid: Grid, dice: Dice, budget_s: float) -> Found:
    """Launch configurations at random, one launch each, and take the best that was seen."""
    return _single(grid, dice, budget_s, lambda seen: int(dice.integers(len(grid.mean))))


def single_tpe(grid: Grid, dice: Dice, budget_s: float) -> Found:
    """Optuna's TPE with its defaults, one launch for each trial, and the best trial's configuration."""
    optuna = require_sampler()
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=int(dice.integers(2**31)))
    )
    place = {tuple(row): i for i, row in enumerate(grid.places)}
    most = [sorted(set(column)) for column in grid.places.T]
    trials: list[object] = []

    def ask(seen: list[float]) -> int:
        if trials and seen:
            study.tell(trials[-1], seen[-1])
        for _ in range(20):
            trial = study.ask()
            at = tuple(steps[trial.suggest_int(str(d), 0, len(steps) - 1)] for d, steps in enumerate(most))
            if at in place:
                trials.append(trial)
                return place[at]
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        trials.append(study.ask())
        return int(dice.integers(len(grid.mean)))

    return _single(grid, dice, budget_s, ask)


def formula(grid: Grid, dice: Dice, budget_s: float) -> Found:
    """Two workers a core and one, without a look."""
    return Found(index=grid.formula, said=float(grid.mean[grid.formula]), spent_s=0.0)


def exhaustive(grid: Grid, dice: Dice, launches: int) -> Found:
    """Launch every configuration so often and take the best mean."""
    everything = range(len(grid.mean))
    values = np.column_stack([grid.draw(dice, everything) for _ in range(launches)]).mean(axis=1)
    index = int(values.argmax())
    return Found(index=index, said=float(values[index]), spent_s=launches * float(grid.cost_s.sum()))


def _single(grid: Grid, dice: Dice, budget_s: float, ask: Callable[[list[float]], int]) -> Found:
    seen: list[float] = []
    tried: list[int] = []
    spent_s = 0.0
    while True:
        i = ask(seen)
        if spent_s + grid.cost_s[i] > budget_s:
            break
        spent_s += float(grid.cost_s[i])
        tried.append(i)
        seen.append(float(grid.draw(dice, [i])[i]))
    best = int(np.argmax(seen))
    return Found(index=tried[best], said=seen[best], spent_s=spent_s)


def unbounded(grid: Grid, dice: Dice, budget_s: float) -> Found:
    """Tune until it ends by itself, however long that takes."""
    return ours(grid, dice, math.inf)


SEARCHES: dict[str, Search] = {
    "tune": ours,
    "tune, unbounded": unbounded,
    "random search": random_search,
    "single-sample TPE": single_tpe,
    "formula, or 2n + 1": formula,
}
