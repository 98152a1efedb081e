"""How good `stackrace tune` is: its regret, the time it takes, and whether its winners stay winners.

    python -m benchmarks.tune --simulated            grids that are made up: minutes, on any machine
    python -m benchmarks.tune --record               nine real grids on a quiet machine, four launches of each
                                                     configuration: 15 minutes each at most
    python -m benchmarks.tune                        replay what is recorded, and print the table
    python -m benchmarks.tune --really mixed/uwsgi   tune one pair for real, and hold it against its recorded grid
    python -m benchmarks.tune --quick                a few minutes to see that all of it runs

Three apps on three servers: one computes, one sleeps 20 ms in place of a database, one does both. No app asks a
real database, so that what is recorded is the servers' alone. Each grid is recorded once, every configuration a few
times; then every search is replayed from these launches through the functions that decide in a race. All searches
have a quarter of the time that an exhaustive grid takes, each configuration launched eight times. What is recorded
is kept in benchmarks/tuning/launches.jsonl, and not recorded again.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from .method._kept import Kept
from .tuning.grids import ROW, Grid, made_up, recorded
from .tuning.recording import APPS, PAIRS, asked, places, record
from .tuning.replay import EXHAUSTIVE, GOALS, SHARE, replayed, table

LAUNCHES = Path(__file__).with_name("tuning") / "launches.jsonl"
SDS = (0.02, 0.04, 0.06)
QUICK = ("workers",)


def main() -> None:
    """Do what the flags say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulated", action="store_true", help="replay made-up grids instead of recorded ones")
    parser.add_argument("--record", action="store_true", help="record the grids that are not recorded yet")
    parser.add_argument("--each", type=int, default=4, help="launches of each configuration (default: 4)")
    parser.add_argument("--budget", type=float, help="seconds at most (default: 900 to record a grid, 300 to tune)")
    parser.add_argument("--pair", choices=PAIRS, action="append", help="this app/server only, again for more")
    parser.add_argument("--replays", type=int, default=100, help="replays of each search (default: 100)")
    parser.add_argument("--really", choices=PAIRS, help="tune this pair for real")
    parser.add_argument("--quick", action="store_true", help="one small grid and few replays")
    options = parser.parse_args()
    if options.quick:
        _quick()
        return
    if options.really:
        _really(options.really, options.budget or 300.0, Kept(LAUNCHES))
        return
    kept = Kept(LAUNCHES)
    if options.record:
        _record(options.pair or PAIRS, options.budget or 900.0, options.each, kept)
    grids = _made_up() if options.simulated else _recorded(options.pair or PAIRS, kept)
    _show(grids, options.replays)


def _record(pairs: Sequence[str], budget_s: float, each: int, kept: Kept, vary: tuple[str, ...] = ()) -> None:
    for pair in pairs:
        if any(row["pair"] == pair for row in kept.rows):
            print(f"{pair}: recorded already", file=sys.stderr)
            continue
        print(f"{pair}: recording, {budget_s:.0f} s at most", file=sys.stderr)
        launches = Counter[str]()
        for row in record(pair, budget_s=budget_s, each=each, vary=vary):
            kept.add(row)
            launches[str(row["stack"])] += row["response"] is not None
        fewest = min(launches.values(), default=0)
        short = "" if fewest >= each else f", fewer than the {each} wanted: give a longer --budget"
        print(f"{pair}: {len(launches)} configurations, {fewest} believed launches or more of each{short}")


def _recorded(pairs: Sequence[str], kept: Kept, vary: tuple[str, ...] = ()) -> Iterator[Grid]:
    for pair in pairs:
        if any(row["pair"] == pair and row["response"] is not None for row in kept.rows):
            yield recorded(pair, kept.rows, places(pair, vary))


def _made_up() -> Iterator[Grid]:
    for sd in SDS:
        for n, app in enumerate(APPS):
            seed = [n, round(1000 * sd)]
            yield made_up(app, np.random.default_rng(seed), sd=sd)
            # the machine's speed changes by a tenth while a block lasts
            yield made_up(app, np.random.default_rng(seed), sd=sd, swing=0.1)
            # a single setting: finals are much of what it takes
            yield made_up(app, np.random.default_rng(seed), sd=sd, workers=ROW, threads=(4,))


def _show(grids: Iterator[Grid], replays: int) -> None:
    results = []
    for grid in grids:
        print(f"{grid.name}: replaying", file=sys.stderr)
        results.append((grid.name, replayed(grid, replays)))
    if not results:
        sys.exit("nothing is recorded; record with --record, or take --simulated")
    keys = ("regret", "regret p90", "share", "lost", "held")
    searches = results[0][1]
    mean = {name: {key: float(np.mean([f[name][key] for _, f in results])) for key in keys} for name in searches}
    print(f"{replays} replays of each search, in {SHARE:.0%} of the time of {EXHAUSTIVE} launches of everything\n")
    print(*table([*results, ("all", mean)]), f"\nGoals: {GOALS}.", sep="\n")


def _really(pair: str, budget_s: float, kept: Kept, vary: tuple[str, ...] = ()) -> None:
    from stackrace.features.tune import words
    from stackrace.features.tune.tuning_preparation import ready_tuning
    from stackrace.features.tune.tuning_result import tuned
    from stackrace.race.run.runner import run_prepared

    with ready_tuning(asked(pair, budget_s=budget_s, vary=vary), None) as ready:
        print(*ready.foretold, sep="\n")
        race = run_prepared(ready, lambda event: None)
    found = tuned(race)
    print(words.answer(race, found), *words.reasons(race, found), sep="\n")
    for grid in _recorded((pair,), kept, vary):
        if found.stack in grid.paths:
            print(f"regret by the recorded grid: {grid.regret(grid.paths.index(found.stack)):.1%}")


def _quick() -> None:
    """Record, replay and tune one small grid."""
    kept = Kept(Path("/tmp/tune-quick.jsonl"))
    _record(("database/gunicorn",), 75.0, 4, kept, QUICK)
    _show(_recorded(("database/gunicorn",), kept, QUICK), 5)
    _really("database/gunicorn", 75.0, kept, QUICK)


if __name__ == "__main__":
    main()
