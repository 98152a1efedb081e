"""How long load must be sent before a slice may begin, and how long a fresh stack must be warmed up.

    python -m benchmarks.method.rewarm --rounds 4

The default stacks of the bundled Django app, all up at once as in a race. First each is loaded for 2 s right after
its start: its throughput in steps of 0.1 s, relative to that of its second second, tells how much warm-up it needs.
Then rounds: every stack under every re-warm, and after every length of the look whether all are at rest, each a
slice of 0.6 s, in shuffled order. "first" is by how much throughput in the first 0.2 s of a slice differs from that
in its rest; "level" by how much the whole slice differs from the same stack's slice with the longest re-warm of
the same round; both are medians over stacks and rounds, in per cent, with an interquartile range. "sd" is the
standard deviation of ln throughput from slice to slice of one stack, free of what all slices of a round have in
common. "idle" is the CPU that all other stacks together used meanwhile, in per cent of a core: what the look let
through.
"""

from __future__ import annotations

import math
import random
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, quantiles

from stackrace.deploy import local_place
from stackrace.deploy.local_place import LocalPlace
from stackrace.measure.load import LoadResult
from stackrace.race.plan import Cell
from stackrace.race.preparation.deployment import set_up
from stackrace.race.preparation.prepared import plan_of
from stackrace.race.request.request import RaceRequest

from ._races import table, write

REWARMS_S = (0.0, 0.05, 0.1, 0.15, 0.3)
LOOKS_S = (0.01, 0.02, 0.03, 0.05)
SLICE_S, FRESH_S = 0.6, 2.0
BIN_S = 0.1
"""The engine's."""
FIRST = 2
"""So many of its bins are a slice's beginning."""
USUAL_LOOK_S, USUAL_REWARM_S = 0.02, 0.1
"""Where the other one is varied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One slice: how it was prepared, ln of its beginning against its rest, ln throughput, others' CPU in cores."""

    round: int
    stack: str
    look_s: float
    rewarm_s: float
    first: float
    value: float
    idle: float


def logs(result: LoadResult) -> tuple[float, float]:
    """Return ln of the rate in a slice's beginning over that in its rest, and ln of its throughput."""
    counts = [bin_.ok for bin_ in result.series]
    rest = counts[FIRST:-1] or counts[FIRST:]
    first = math.log((fmean(counts[:FIRST]) or 0.5) / (fmean(rest) or 0.5))
    return first, math.log(result.throughput_per_s or 0.5)


def described(name: str, seen: Sequence[Seen], than: Sequence[Seen]) -> dict[str, object]:
    """Return the figures of one condition; ``than`` are the slices that its level is compared with."""
    usual = {(one.round, one.stack): one.value for one in than}
    levels = [one.value - usual[one.round, one.stack] for one in seen if (one.round, one.stack) in usual]
    return {
        "condition": name,
        "slices": len(seen),
        "first %": spread([100 * one.first for one in seen]),
        "level %": spread([100 * one for one in levels]),
        "sd %": 100 * deviation(seen),
        "idle %": spread([100 * one.idle for one in seen]),
    }


def spread(values: Sequence[float]) -> str:
    """Return the median and the quartiles of ``values``; a dash for none."""
    if not values:
        return "–"
    low, middle, high = quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return f"{middle:+.1f} ({low:+.1f} to {high:+.1f})"


def deviation(seen: Sequence[Seen]) -> float:
    """Return the sd of ln throughput within stacks, once what all slices of a round share is taken off."""
    rows: dict[int, dict[str, float]] = {}
    for one in seen:
        rows.setdefault(one.round, {})[one.stack] = one.value
    stacks = set.intersection(*map(set, rows.values())) if rows else set()
    if len(rows) < 2 or len(stacks) < 2:
        return math.nan
    means = {stack: fmean(row[stack] for row in rows.values()) for stack in stacks}
    left = [[row[stack] - means[stack] for stack in stacks] for row in rows.values()]
    errors = [value - fmean(row) for row in left for value in row]
    return math.sqrt(sum(one**2 for one in errors) / ((len(rows) - 1) * (len(stacks) - 1)))


@contextmanager
def standing(concurrency: int, stacks: Sequence[str]) -> Iterator[tuple[LocalPlace, tuple[Cell, ...]]]:
    """Bring all stacks up; yields the place and what to load."""
    request = RaceRequest(
        folder=Path.cwd(), bundled="django", stacks=tuple(stacks) or None, concurrency=(concurrency,), twin=False
    )
    with set_up(request, print) as stage:
        plan = plan_of(request, stage)
        yield stage.place(), plan.cells(plan.stacks)


def fresh(place: LocalPlace, cells: Sequence[Cell]) -> dict[str, object]:
    """Launch every stack and load it at once; returns its rate by bin, relative to that of the second second."""
    steps = round(1 / BIN_S)
    curves = []
    for cell in cells:
        launched = place.launch(cell.stack, 30.0)
        if launched.failure is not None:
            raise SystemExit(f"{cell.stack.path} does not start: {launched.failure.message}")
        place.rest()
        timed = replace(cell.load, duration_s=FRESH_S)
        counts = [bin_.ok for bin_ in place.load(cell.stack, cell.workload, timed, 0.0).result.series]
        usual = fmean(counts[steps : 2 * steps]) or 0.5
        curves.append([count / usual for count in counts[:steps]])
    found = {
        f"{place * BIN_S:.1f} s": spread([100 * (curve[place] - 1) for curve in curves]) for place in range(steps)
    }
    return {"after the start": "rate %", **found}


def main() -> None:
    """Measure, and print a table after every round."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=4, help="slices of each kind and stack; 4 by default, 6 min")
    parser.add_argument("--concurrency", type=int, default=100, help="connections; 100 by default")
    parser.add_argument("--stack", action="append", default=[], help="a stack, again for more; the default ten")
    parser.add_argument("--seed", type=int, default=1, help="of the shuffling; 1 by default")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the rows there, too, after every round")
    given = parser.parse_args()
    dice = random.Random(given.seed)
    with standing(given.concurrency, given.stack) as (place, cells):
        curve = fresh(place, cells)
        table("throughput right after the start, against the second second, median and quartiles of the stacks",
              [{"after": name, "rate %": value} for name, value in list(curve.items())[1:]])  # fmt: skip
        seen: list[Seen] = []
        for number in range(given.rounds):
            seen += measured(place, cells, number, dice)
            rows = rows_of(seen)
            table(f"slices of {SLICE_S:g} s at {given.concurrency} connections, after {number + 1} rounds", rows)
            write(given.json, {"fresh": curve, "slices": rows})
        place.retire([cell.stack for cell in cells]).finish()


def measured(place: LocalPlace, cells: Sequence[Cell], number: int, dice: random.Random) -> Iterator[Seen]:
    """Take one round of slices."""
    ways = [(USUAL_LOOK_S, rewarm_s) for rewarm_s in REWARMS_S]
    ways += [(look_s, USUAL_REWARM_S) for look_s in LOOKS_S if look_s != USUAL_LOOK_S]
    order = [(cell, way) for cell in cells for way in ways]
    for cell, (look_s, rewarm_s) in dice.sample(order, len(order)):
        local_place.REST_LOOK_S = look_s
        place.rest()
        timed = replace(cell.load, duration_s=SLICE_S)
        observation = place.load(cell.stack, cell.workload, timed, rewarm_s)
        first, value = logs(observation.result)
        idle = observation.idle_cpu_s / observation.machine.elapsed_s
        yield Seen(round=number, stack=cell.stack.path, look_s=look_s, rewarm_s=rewarm_s,
                   first=first, value=value, idle=idle)  # fmt: skip


def rows_of(seen: Sequence[Seen]) -> list[dict[str, object]]:
    """Return a row for each re-warm, and one for each look."""
    longest = [one for one in seen if one.rewarm_s == max(REWARMS_S)]
    usual = [one for one in seen if (one.look_s, one.rewarm_s) == (USUAL_LOOK_S, USUAL_REWARM_S)]

    def row(name: str, chosen: Callable[[Seen], bool], than: Sequence[Seen]) -> dict[str, object]:
        return described(name, [one for one in seen if chosen(one)], than)

    return [
        *(row(f"re-warm {w:g} s", lambda s, w=w: (s.look_s, s.rewarm_s) == (USUAL_LOOK_S, w), longest)
          for w in REWARMS_S),
        *(row(f"look {k:g} s", lambda s, k=k: (s.look_s, s.rewarm_s) == (k, USUAL_REWARM_S), usual)
          for k in LOOKS_S),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
