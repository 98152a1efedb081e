"""What load generators say of a server that stalls: a perfect observer's numbers beside theirs.

    python benchmarks/engine_stalls.py

The known-delay server (1 ms per request) answers nothing for 0.5, 1.5, 2.5 and 10 s, or from then on for ever; at
last the server is well, and the generator itself is stopped (SIGSTOP) for 1 s. The perfect observer comes 500 times
a second whatever happens; what he sees is computed. A closed loop asks less while nobody answers, so its quantiles
cannot show how many would have waited; its maximum can and must show how long. "≥" is a value that a tool itself
calls a lower bound. Errors are what a tool calls so; oha counts requests that were under way at its end.

Goal: ours shows every stall within 5 % of the perfect observer, in the open loop at p99, too; what still waits at
the end is a lower bound. Needs cargo and two cores; peers only where installed. The server has the first core.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rig.generator import Generator, Job, Pause, Seen, of_sorted, run
from rig.machine import cores, raise_file_limit, require
from rig.ours import OURS
from rig.peers import peers_at_hand
from rig.servers import KnownDelay, example
from rig.tables import line, millis, verdict, write_json

SERVICE_S = 1e-3
AFTER_S = 1.0
REST_S = 2.0
EVER_S = 5.0
STOP_S = 1.0
CONNECTIONS = 16
POOL = 8000
RATE_PER_S = 500.0
TOLERANCE = 0.05
WIDTHS = (-20, -18, 9, 9, 9, 8, 9, -40)
COLUMNS = "stall|reported by|p50 ms|p99 ms|max ms|errors|requests|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``stall_s`` seconds without answers, None for ever; or the generator is stopped for as long."""

    stall_s: float | None
    stops_generator: bool = False

    @property
    def name(self) -> str:
        """What happens, in short."""
        if self.stops_generator:
            return f"generator, {self.stall_s:g} s"
        return "server, for ever" if self.stall_s is None else f"server, {self.stall_s:g} s"

    @property
    def seconds(self) -> float:
        """How long a run is: time before, the stall, and time after it."""
        return AFTER_S + (EVER_S if self.stall_s is None else self.stall_s + REST_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Quantiles in seconds; ``bounds`` names those that are at least that, as some waits had not ended."""

    p50: float
    p99: float
    max: float
    unfinished: int
    bounds: frozenset[str]


def observe(
    *, rate_per_s: float, seconds: float, service_s: float, after_s: float, stall_s: float | None
) -> Observed:
    """Come every 1 / ``rate_per_s`` for ``seconds`` to a server that stalls ``after_s`` from the start.

    What is due during the stall is answered at its end, or never when ``stall_s`` is None. Whoever still waits when
    the run ends has waited at least until then: that makes a lower bound of every quantile that would move if all
    those waits were infinite.
    """
    end_s = math.inf if stall_s is None else after_s + stall_s
    waits, hopeless = [], []
    for number in range(int(rate_per_s * seconds)):
        came_s = number / rate_per_s
        gone_s = came_s + service_s
        if after_s <= gone_s < end_s:
            gone_s = end_s
        waits.append(min(gone_s, seconds) - came_s)
        hopeless.append(gone_s - came_s if gone_s <= seconds else math.inf)
    told, true = _quantiles(waits), _quantiles(hopeless)
    bounds = frozenset(name for name in told if told[name] != true[name])
    return Observed(**told, unfinished=hopeless.count(math.inf), bounds=bounds)


def _quantiles(waits: list[float]) -> dict[str, float]:
    ascending = sorted(waits)
    return {name: of_sorted(ascending, q) for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))}


def main() -> None:
    """Play every case with every tool."""
    options = command_line()
    require("taskset", "cargo")
    example("known_delay")
    raise_file_limit()
    peers = () if options.ours else peers_at_hand()
    print(line(COLUMNS.split("|"), WIDTHS))
    rows = []
    for case in cases(options.stalls):
        for row in rows_of(case, peers):
            rows.append(row)
            print(row_text(row), flush=True)
    judged = [row["right"] for row in rows if row["right"] is not None]
    print(f"goal: ours as the perfect observer, within {TOLERANCE:.0%}: {sum(judged)} of {len(judged)}: ", end="")
    print(verdict(judged))
    write_json(options.json, rows)


def command_line() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    stalls = ["0.5", "1.5", "2.5", "10", "ever", "stop"]
    words = "seconds, 'ever', or 'stop' for the generator"
    parser.add_argument("--stalls", nargs="+", default=stalls, help=f"{words} (default {' '.join(stalls)})")
    parser.add_argument("--ours", action="store_true", help="leave the peers out")
    parser.add_argument("--json", metavar="FILE", help="write the rows there as well")
    return parser.parse_args()


def cases(stalls: Sequence[str]) -> Iterator[Case]:
    """Yield what the command line names."""
    for stall in stalls:
        if stall == "stop":
            yield Case(stall_s=STOP_S, stops_generator=True)
        else:
            yield Case(stall_s=None if stall == "ever" else float(stall))


def rows_of(case: Case, peers: Sequence[Generator]) -> Iterator[dict[str, Any]]:
    """Yield what the perfect observer sees, then ours as open and as closed loop, then the peers."""
    perfect = observe(
        rate_per_s=RATE_PER_S, seconds=case.seconds, service_s=SERVICE_S, after_s=AFTER_S, stall_s=case.stall_s
    )
    yield perfect_row(case, perfect)
    opened = play(case, OURS, open_loop=True)
    yield row_of(case, "ours, open loop", opened, right=is_right(opened, perfect, ("p99", "max")))
    closed = play(case, OURS)
    yield row_of(case, "ours, closed loop", closed, right=is_right(closed, perfect, ("max",)))
    for peer in peers:
        yield row_of(case, peer.name, play(case, peer), right=None)


def play(case: Case, generator: Generator, open_loop: bool = False) -> Seen:
    """Return what a generator saw of a case."""
    server_core, core = cores()
    length = "ever" if case.stall_s is None else f"{case.stall_s:g}"
    stall = None if case.stops_generator else f"{AFTER_S:g},{length}"
    pause = Pause(after_s=AFTER_S, for_s=STOP_S) if case.stops_generator else None
    with KnownDelay(core=server_core, delay=f"constant:{SERVICE_S * 1e3:g}ms", stall=stall) as server:
        job = Job(address=server.address, core=core, connections=CONNECTIONS, seconds=case.seconds)
        if open_loop:
            job = replace(job, connections=POOL, rate_per_s=RATE_PER_S)
        return run(generator, job, pause)


def is_right(seen: Seen, perfect: Observed, names: Sequence[str]) -> bool:
    """Whether quantiles are what the perfect observer saw, and lower bounds are called so."""
    for name in names:
        value, true = seen.quantile(name), getattr(perfect, name)
        if value is None or abs(value - true) > TOLERANCE * true:
            return False
        if name in perfect.bounds and name not in seen.bounds:
            return False
    return True


def perfect_row(case: Case, perfect: Observed) -> dict[str, Any]:
    """Return the perfect observer's row."""
    quantiles = {name: getattr(perfect, name) for name in ("p50", "p99", "max")}
    answered = int(RATE_PER_S * case.seconds) - perfect.unfinished
    seen = Seen(**quantiles, errors=0, requests=answered, bounds=perfect.bounds)
    return row_of(case, "perfect observer", seen, right=None)


def row_of(case: Case, name: str, seen: Seen, right: bool | None) -> dict[str, Any]:
    """Return a row; ``right`` is None for what is not judged."""
    return {
        "stall": case.name,
        "reported_by": name,
        "reported_s": {each: seen.quantile(each) for each in ("p50", "p99", "max")},
        "bounds": sorted(seen.bounds),
        "errors": seen.errors,
        "requests": seen.requests,
        "right": right,
        "note": seen.note,
    }


def row_text(row: dict[str, Any]) -> str:
    """Return a row for the terminal."""
    cells = [row["stall"], row["reported_by"]]
    cells += [millis(value, bound=name in row["bounds"]) for name, value in row["reported_s"].items()]
    cells += ["-" if row[name] is None else f"{row[name]:,}" for name in ("errors", "requests")]
    return line([*cells, row["note"] or ("MISSED" if row["right"] is False else "")], WIDTHS)


if __name__ == "__main__":
    main()
