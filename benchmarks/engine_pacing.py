"""Whether an open loop sends when it says it does: its own lag, and the arrivals as the server stamped them.

    python benchmarks/engine_pacing.py --runs 50 --seconds 0.5

At each rate many short runs are played against the known-delay server, which answers at once and stamps every
arrival; a tenth of a second of the same load comes before each. Lag is the engine's own: from when a request was
due until a connection took it. Of Poisson arrivals, given their number N in (0, T), the times must be uniform: the
Kolmogorov-Smirnov distance D against that stays below 1.63/√N in 99 of 100 runs of a perfect source. Of constant
arrivals the gaps are shown: how far the middle 98 % of them are from what was asked for. "achieved" is arrivals as
a share of those asked for.

No thread keeps time while a hypervisor has its core. Each case has a second line for the runs in which none was
taken, as far as the kernel was told (in hundredths of a second): what the engine does when it is let.

Goals: lag p99 at most 50 µs; D below 1.63/√N in at least 98 % of runs. Needs cargo and two cores: the server has
the first core, the generator the last.
"""

from __future__ import annotations

import argparse
import math
import statistics
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from rig.generator import Job, of_sorted
from rig.machine import cores, raise_file_limit, require
from rig.ours import Run, play_many
from rig.servers import KnownDelay, example
from rig.tables import line, verdict, write_json

RATES = (1000.0, 5000.0, 20_000.0, 50_000.0)
LAG_GOAL_S = 50e-6
UNIFORM_GOAL = 0.98
KS_LIMIT = 1.63
POOL = 256
WARMUP_S = 0.1
"""Connections are opened by then: at 50,000/s opening one takes longer than the gap between two requests."""
KINDS = ("all", "undisturbed")
WIDTHS = (-9, 9, -12, 5, 10, 10, 10, 22, 10, -8)
COLUMNS = "arrivals|rate||runs|lag p50 µs|lag p99 µs|worst p99|uniform / gaps ± µs|achieved|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A rate, evenly or at random."""

    rate_per_s: float
    poisson: bool


def main() -> None:
    """Play every rate both ways."""
    options = command_line()
    require("taskset", "cargo")
    example("known_delay")
    raise_file_limit()
    print(line(COLUMNS.split("|"), WIDTHS))
    rows = []
    for poisson in (False, True):
        for rate_per_s in options.rates:
            for row in play(Case(rate_per_s=rate_per_s, poisson=poisson), options.runs, options.seconds):
                rows.append(row)
                print(row_text(row), flush=True)
    goals = f"lag p99 ≤ {LAG_GOAL_S * 1e6:.0f} µs, uniform in ≥ {UNIFORM_GOAL:.0%} of runs"
    for kind in KINDS:
        reached = [row["reached"] for row in rows if row["kind"] == kind]
        print(f"goals, {kind}: {goals}: {verdict(reached)}")
    write_json(options.json, rows)


def command_line() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50, help="runs at each rate (default 50)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one run (default 0.5)")
    rates = " ".join(f"{rate:.0f}" for rate in RATES)
    parser.add_argument(
        "--rates", type=float, nargs="+", default=RATES, help=f"requests per second (default {rates})"
    )
    parser.add_argument("--json", metavar="FILE", help="write the rows there as well")
    return parser.parse_args()


def play(case: Case, runs: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Play all runs of a case against one server, from one process; yield a row of all, and of the undisturbed."""
    server_core, core = cores()
    with KnownDelay(core=server_core) as server:
        load = {"rate_per_s": case.rate_per_s, "poisson": case.poisson, "warmup_s": WARMUP_S}
        own = Job(address=server.address, core=core, connections=POOL, seconds=seconds, **load)
        jobs = [replace(own, seed=seed) for seed in range(runs)]
        played = play_many(jobs)
    both = list(zip(played, arrivals(played, server.arrivals_ns), strict=True))
    for kind in KINDS:
        if kept := [pair for pair in both if kind == KINDS[0] or pair[0].stolen_s == 0]:
            yield row_of(case, kind, [run for run, _ in kept], [times_s for _, times_s in kept])


def arrivals(runs: Sequence[Run], stamps_ns: array[int]) -> list[list[float]]:
    """Return each run's arrivals in seconds from its start, as long as it recorded."""
    starts = [bisect_left(stamps_ns, run.started_at * 1e9) for run in runs]
    ends = [bisect_left(stamps_ns, (run.started_at + run.seconds) * 1e9) for run in runs]
    return [
        [stamp_ns * 1e-9 - run.started_at for stamp_ns in stamps_ns[start:end]]
        for run, start, end in zip(runs, starts, ends, strict=True)
    ]


def row_of(case: Case, kind: str, runs: Sequence[Run], arrivals_s: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return medians over the runs, and how many of them were uniform."""
    lags = [run.lag for run in runs if run.lag is not None]
    p99_s = statistics.median(lag["p99"] for lag in lags)
    uniform = [is_uniform(times_s, run.seconds) for times_s, run in zip(arrivals_s, runs, strict=True)]
    asked = sum(case.rate_per_s * run.seconds for run in runs)
    share = sum(uniform) / len(uniform)
    return {
        "kind": kind,
        "arrivals": "Poisson" if case.poisson else "constant",
        "rate_per_s": case.rate_per_s,
        "runs": len(runs),
        "lag_p50_s": statistics.median(lag["p50"] for lag in lags),
        "lag_p99_s": p99_s,
        "worst_lag_p99_s": max(lag["p99"] for lag in lags),
        "uniform": share if case.poisson else None,
        "gap_error_s": None if case.poisson else gap_error_s(arrivals_s, 1 / case.rate_per_s),
        "achieved": sum(map(len, arrivals_s)) / asked,
        "errors": sum(run.errors for run in runs),
        "reached": p99_s <= LAG_GOAL_S and (not case.poisson or share >= UNIFORM_GOAL),
    }


def is_uniform(times_s: Sequence[float], seconds: float) -> bool:
    """Whether the Kolmogorov-Smirnov distance is what a uniform source exceeds in 1 % of runs only.

    Source: Smirnov 1948; D √N has its 99 % point at 1.63 for large N.
    """
    count = len(times_s)
    if count == 0:
        return False
    return distance(times_s, seconds) < KS_LIMIT / math.sqrt(count)


def distance(times_s: Sequence[float], seconds: float) -> float:
    """Return the largest gap between the share of ascending ``times_s`` and the share of (0, ``seconds``)."""
    count = len(times_s)
    places = (min(time_s / seconds, 1.0) for time_s in times_s)
    return max(max((index + 1) / count - place, place - index / count) for index, place in enumerate(places))


def gap_error_s(arrivals_s: Sequence[Sequence[float]], gap_s: float) -> float:
    """Return how far 98 of 100 gaps between arrivals are from ``gap_s`` at most."""
    errors = sorted(abs(later - earlier - gap_s) for times_s in arrivals_s for earlier, later in pairwise(times_s))
    return of_sorted(errors, 0.98) if errors else math.nan


def row_text(row: dict[str, Any]) -> str:
    """Return a row for the terminal."""
    shape = f"{row['gap_error_s'] * 1e6:.1f}" if row["uniform"] is None else f"{row['uniform']:.0%} of runs"
    lags = [f"{row[name] * 1e6:.1f}" for name in ("lag_p50_s", "lag_p99_s", "worst_lag_p99_s")]
    cells = [row["arrivals"], f"{row['rate_per_s']:,.0f}/s", row["kind"], str(row["runs"]), *lags, shape]
    comment = f"{row['errors']} errors" if row["errors"] else ("" if row["reached"] else "MISSED")
    return line([*cells, f"{row['achieved']:.2%}", comment], WIDTHS)


if __name__ == "__main__":
    main()
