"""Ways to look for the best configuration in so much time, all on the same grid: ours, and those it is held to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stackrace.features.tune.estimates import Grid as Estimated
from stackrace.features.tune.search import next_round
from stackrace.features.tune.speed_effect import Slices, speed_effect
from stackrace.features.tune.tuning_result import Verdict, verdict

from ..method.noise import Dice
from .grids import Drawn, Grid

DELTA = math.log(1.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search chose."""

    index: int
    said: float
    """The ln(throughput) that it promises, at the machine's usual speed."""
    spent_s: float
    limits: bool | None = None
    """Whether the limits of what it brings against the default hold the truth; None where none are said."""


Search = Callable[[Grid, Dice, float], Found]


def ours(grid: Grid, dice: Dice, budget_s: float) -> Found:
    """Tune: the very functions that decide in a race."""
    k = len(grid.mean)
    blocks: list[Drawn] = []
    spent_s = 0.0
    launches = 0
    references = tuple(sorted({grid.given, grid.formula}))
    while True:
        each_s = spent_s / launches if launches else float(grid.cost_s.mean())
        values = np.array([one.values.mean(axis=1) for one in blocks]).reshape(-1, k).T
        felt, _ = speed_effect(_slices(blocks, grid), grid.places, len(blocks))
        now = Estimated(
            values=values - felt,
            entered=np.isfinite(values),
            places=grid.places,
            delta=DELTA,
            references=references,
        )
        racing = next_round(now, (budget_s - spent_s) / each_s)
        block_s = float(grid.cost_s[list(racing)].sum())
        if not racing or spent_s + block_s > budget_s:
            break
        blocks.append(grid.draw(dice, racing))
        spent_s, launches = spent_s + block_s, launches + len(racing)
    chosen = verdict(now)
    assert chosen is not None
    return Found(
        index=chosen.index,
        said=math.log(chosen.value.value) + _corrected(grid, chosen, now, blocks),
        spent_s=spent_s,
        limits=_against_given(grid, chosen),
    )


def _corrected(grid: Grid, chosen: Verdict, now: Estimated, blocks: Sequence[Drawn]) -> float:
    """Return what the promise lacks of the speed that the machine really had in the launches it is from.

    All searches promise what their launches give at the machine's usual speed: that it was fast just then is no
    fault of a configuration. The others are told exactly how fast it was, so this one is, too.
    """
    raw = np.array([one.values[chosen.index].mean() for one in blocks])
    speed = grid.busy[chosen.index] * np.array([one.speed[chosen.index] for one in blocks])
    last = np.flatnonzero(np.isfinite(raw))[-chosen.launches :]
    return float(np.mean(raw[last] - now.values[chosen.index][last] - speed[last]))


def _slices(blocks: Sequence[Drawn], grid: Grid) -> Slices:
    return Slices.of(
        (one.values[i, turn], one.moments_s[i, turn], grid.busy[i], i, j)
        for j, one in enumerate(blocks)
        for i, turn in np.argwhere(np.isfinite(one.values))
    )


def _against_given(grid: Grid, chosen: Verdict) -> bool | None:
    """Tell whether the truth lies within the limits of what it brings against the default; None without limits."""
    ratio = chosen.ratio(grid.given)
    if ratio is None or ratio.low is None or ratio.high is None:
        return None
    return ratio.low <= math.exp(grid.mean[chosen.index] - grid.mean[grid.given]) <= ratio.high


def random_search(grid: Grid, dice: Dice, budget_s: float) -> Found:
    """Launch configurations at random, one launch each, and take the best that was seen."""
    return _single(grid, dice, budget_s, lambda seen: int(dice.integers(len(grid.mean))))


def single_tpe(grid: Grid, dice: Dice, budget_s: float) -> Found:
    """Optuna's TPE with its defaults, one launch for each trial, and the best trial's configuration."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
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
    blocks = [grid.draw(dice, everything) for _ in range(launches)]
    values = np.mean([one.values.mean(axis=1) for one in blocks], axis=0)
    speed = np.mean([one.speed for one in blocks], axis=0)
    index = int(values.argmax())
    said = float(values[index] - grid.busy[index] * speed[index])
    return Found(index=index, said=said, spent_s=launches * float(grid.cost_s.sum()))


def _single(grid: Grid, dice: Dice, budget_s: float, ask: Callable[[list[float]], int]) -> Found:
    seen: list[float] = []
    speeds: list[float] = []
    tried: list[int] = []
    spent_s = 0.0
    while True:
        i = ask(seen)
        if spent_s + grid.cost_s[i] > budget_s:
            break
        spent_s += float(grid.cost_s[i])
        tried.append(i)
        drawn = grid.draw(dice, [i])
        seen.append(float(drawn.values[i].mean()))
        speeds.append(float(drawn.speed[i]))
    best = int(np.argmax(seen))
    said = seen[best] - grid.busy[tried[best]] * speeds[best]
    return Found(index=tried[best], said=said, spent_s=spent_s)


SEARCHES: dict[str, Search] = {
    "tune": ours,
    "random search": random_search,
    "single-sample TPE": single_tpe,
    "formula, or 2n + 1": formula,
}
