"""``stackrace capacity``: the search with its line of progress, shown and turned into an exit code."""

from __future__ import annotations

from ....api.load.options import LoadOptions
from ....base.errors import InterruptedRace
from ....base.numbers import duration, number
from ....cli.load.progress import ProgressLine
from ....cli.load.raced import RacedTarget
from ....measure.engine.load_run import Goal
from ....measure.load import Load
from ..search import REST_S, find_capacity
from ..stats import Search
from .show import show

__all__ = ["find_and_show"]


def find_and_show(
    options: LoadOptions, target: RacedTarget, goal: Goal, *, connections: int, seed: int, as_json: bool
) -> None:
    """Do what ``stackrace capacity`` was asked for. Raises InputError before anything is sent."""

    def watch(load: Load, warmup_s: float, search: Search | None) -> ProgressLine:
        before = "" if search is None else _ahead(load, warmup_s, search)
        return ProgressLine(load, warmup_s, quiet=as_json, before=before)

    with target.set_up(options) as setup:
        outcome = find_capacity(setup, goal, connections=connections, seed=seed, watch=watch)
    show(outcome, as_json=as_json)
    if outcome.interrupted:
        raise InterruptedRace("stopped before the capacity was known; the trials are above")
    if outcome.search.capacity is None:
        raise SystemExit(1)


def _ahead(load: Load, warmup_s: float, search: Search) -> str:
    """Say where the search is, and how long the trials that are left take at most if each is made once."""
    rate = load.rate_per_s or 1.0
    each_s = (load.requests or 1) / rate + warmup_s + REST_S
    left = search.most_trials
    return f"{number(rate)}/s, {left} of such left, {duration(left * each_s)} at most  "
