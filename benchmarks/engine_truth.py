"""Whether latencies are true: what load generators report beside what the server's own clock says.

    python benchmarks/engine_truth.py --seconds 3

The known-delay server takes a drawn time for every request, and stamps when the request had been read and when its
answer was about to be written. Every run has a server of its own, on the first core; the generators have the last.
The error is what the generator reports minus what the server stamped: the way through the kernel, waking up, and
whatever the generator adds or loses. "of ceiling" is the throughput as a share of what the engine reaches against a
server that does nothing. Closed loops go to every tool, to ours twice: sleeping until the kernel wakes it, as all
do, and spinning, which sees an answer when it comes rather than once a sleeping core has woken. Of open loops
(Poisson) ours shows two lines: "service" counts from sending, which is what the server can know and what is judged,
"latency" from when a request was due.

Goal: ours within 20 µs or 1 %, whichever is more, at p50, p99 and p99.9, up to 70 % of the ceiling. "-" is what a
tool does not tell; siege tells no quantile at all. Needs cargo and two cores; peers only where installed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rig.generator import Generator, Job, Seen, run
from rig.machine import cores, raise_file_limit, require
from rig.ours import OURS, SPINNING
from rig.peers import peers_at_hand
from rig.servers import KnownDelay, Truth, example, null_server
from rig.tables import line, micros, millis, verdict, write_json

DELAYS = ("constant:1ms", "exponential:1ms", "bimodal:1ms,10ms,0.1", "pareto:1ms,2.5")
RATES = (1000.0, 10_000.0, 30_000.0)
QUANTILES = ("p50", "p99", "p999")
WIDTHS = (-20, -14, -22, 10, 8, 8, 9, 9, 9, 11, -11)
COLUMNS = "service time|load|reported by|of ceiling|p50 ms|p99 ms|p99.9 ms|error p50|p99 µs|p99.9 µs|"
NOMINAL_S = 2e-3
"""No distribution above has a longer mean: so many seconds' worth of requests take at most so many seconds."""
TOLERANCE_S = 20e-6
TOLERANCE = 0.01
LOAD_MOST = 0.7
POOL = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A service time and a load: so many connections in a closed loop, or at most so many in an open one."""

    delay: str
    connections: int
    rate_per_s: float | None = None

    @property
    def load(self) -> str:
        """The load as the table names it."""
        if self.rate_per_s is None:
            return f"{self.connections} closed"
        return f"{self.rate_per_s:,.0f}/s open"

    def requests(self, seconds: float) -> int:
        """Return how many requests fit into ``seconds``."""
        return max(1, round(seconds * (self.rate_per_s or self.connections / NOMINAL_S)))


def main() -> None:
    """Play every case with every tool that can."""
    options = command_line()
    require("taskset", "cargo")
    example("known_delay")
    raise_file_limit()
    peers = () if options.ours else peers_at_hand()
    ceiling = engine_ceiling()
    print(f"the engine's ceiling is {ceiling:,.0f} requests/s\n\n{line(COLUMNS.split('|'), WIDTHS)}")
    rows = []
    for case in cases(options):
        can = peers if case.rate_per_s is None else ()
        for generator in (OURS, SPINNING, *can):
            for row in play(case, generator, options.seconds, ceiling):
                rows.append(row)
                print(row_text(row), flush=True)
    for generator in (OURS, SPINNING):
        judged = [row["within"] for row in rows if row["judged"] and row["by"] == generator.name]
        goal = f"within {TOLERANCE_S * 1e6:.0f} µs or {TOLERANCE:.0%} up to {LOAD_MOST:.0%} of the ceiling"
        print(f"goal: {generator.name}: {goal}: {sum(judged)} of {len(judged)} cases: {verdict(judged)}")
    write_json(options.json, rows)


def engine_ceiling() -> float:
    """Return the engine's requests per second over 64 connections to a server that does nothing."""
    server_core, core = cores()
    with null_server(server_core) as address:
        seen = run(OURS, Job(address=address, core=core, connections=64, seconds=1.0))
    if not seen.requests or not seen.seconds:
        sys.exit(f"the engine's ceiling cannot be found: {seen.note}")
    return seen.requests / seen.seconds


def command_line() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="longest time of one run (default 3)")
    parser.add_argument("--delays", nargs="+", default=DELAYS, help=f"default {' '.join(DELAYS)}")
    parser.add_argument("--connections", type=int, nargs="*", default=[1, 16], help="closed loops (default 1 16)")
    rates = [1000.0, 10_000.0, 30_000.0]
    parser.add_argument(
        "--rates", type=float, nargs="*", default=rates, help="open loops (default 1000 10000 30000)"
    )
    parser.add_argument("--ours", action="store_true", help="leave the peers out")
    parser.add_argument("--json", metavar="FILE", help="write the rows there as well")
    return parser.parse_args()


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Yield closed loops, then open ones, for every service time."""
    for delay in options.delays:
        for connections in options.connections:
            yield Case(delay=delay, connections=connections)
        for rate_per_s in options.rates:
            yield Case(delay=delay, connections=POOL, rate_per_s=rate_per_s)


def play(case: Case, generator: Generator, seconds: float, ceiling: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of one run: one, or of an open loop one for service and one for latency."""
    server_core, core = cores()
    with KnownDelay(core=server_core, delay=case.delay, seed=case.connections) as server:
        job = Job(address=server.address, core=core, connections=case.connections, seconds=seconds,
                  requests=case.requests(seconds), rate_per_s=case.rate_per_s,
                  poisson=case.rate_per_s is not None)  # fmt: skip
        seen = run(generator, job)
    load = (seen.requests or 0) / (seen.seconds or seconds) / ceiling
    if case.rate_per_s is None:
        yield row_of(case, generator.name, "", load, seen, server.truth, seen.quantile)
        return
    service = {each: seen.more.get(f"service_{each}") for each in QUANTILES}
    yield row_of(case, generator.name, "service", load, seen, server.truth, service.get)
    yield row_of(case, generator.name, "latency", load, seen, server.truth, seen.quantile)


def row_of(
    case: Case,
    by: str,
    kind: str,
    load: float,
    seen: Seen,
    truth: Truth,
    quantile: Callable[[str], float | None],
) -> dict[str, Any]:
    """Return what was reported beside what is true."""
    told = {each: quantile(each) for each in QUANTILES}
    true = {each: getattr(truth, each) for each in QUANTILES}
    errors = {each: None if value is None else value - true[each] for each, value in told.items()}
    within = all(
        error is not None and abs(error) <= max(TOLERANCE_S, TOLERANCE * true[each])
        for each, error in errors.items()
    )
    return {
        "delay": case.delay, "load": case.load, "by": by, "kind": kind, "of_ceiling": load,
        "requests": seen.requests, "answered": truth.count, "reported_s": told, "true_s": true, "error_s": errors,
        "within": within, "note": seen.note,
        "judged": by in (OURS.name, SPINNING.name) and kind != "latency" and load <= LOAD_MOST,
    }  # fmt: skip


def row_text(row: dict[str, Any]) -> str:
    """Return a row for the terminal; the quantiles shown are the true ones."""
    cells = [row["delay"], row["load"], f"{row['by']} {row['kind']}", f"{row['of_ceiling']:.0%}"]
    cells += [millis(row["true_s"][each]) for each in QUANTILES]
    cells += [micros(row["error_s"][each]) for each in QUANTILES]
    comment = "" if row["within"] or not row["judged"] else "outside"
    return line([*cells, row["note"] or comment], WIDTHS)


if __name__ == "__main__":
    main()
