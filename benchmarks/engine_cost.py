"""What a request costs the load engine, beside wrk and beside a bare epoll loop that does nothing else.

    python benchmarks/engine_cost.py --seconds 3 --rounds 5

All three load the same private nginx in turn, A B C C B A, at 1, 64, 1,000 and 10,000 connections. nginx has the
first core, the generators the last. The engine checks status and every byte of every answer, and records
percentiles; wrk looks at the status only; the floor parses nothing. CPU is that of the whole process, opening
connections included, so runs at 10,000 connections are three times as long. A ratio is taken in each round, and
their median shown with their range.

Goals: requests per CPU-second at least 1.15 × wrk's; CPU per request at most 1.10 × the floor's; less than 64 MiB
more memory at 10,000 connections. Needs nginx, wrk, cargo and two cores; without them it says so and skips.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rig.generator import Generator, Job, Seen, run
from rig.machine import cores, raise_file_limit, require
from rig.ours import FLOOR, OURS
from rig.peers import WRK
from rig.servers import example, private_nginx
from rig.tables import line, verdict, write_json

CONTENDERS = (OURS, WRK, FLOOR)
WIDTHS = (11, 8, 8, 8, 22, 22, 9, 10)
COLUMNS = "connections|ours µs|wrk µs|floor µs|per CPU-s, × wrk|CPU, × floor|× wrk/s|memory"

WRK_GOAL = 1.15
FLOOR_GOAL = 1.10
MEMORY_GOAL_MIB = 64.0
SPARE_FILES = 128
MANY = 5_000

Round = Mapping[str, Seen]


def main() -> None:
    """Run the comparison as the command line says."""
    options = command_line()
    require("nginx", "wrk", "taskset", "cargo")
    example("floor")
    files = raise_file_limit()
    print(line(COLUMNS.split("|"), WIDTHS))
    rows = []
    for connections in options.connections:
        if files < connections + SPARE_FILES:
            print(f"{connections:>11}  skipped: needs ulimit -n {connections + SPARE_FILES}, here it is {files}")
            continue
        row = compare(connections, options.seconds, options.rounds)
        rows.append(row)
        print(row_text(row), flush=True)
    print(f"goals: × wrk ≥ {WRK_GOAL}, × floor ≤ {FLOOR_GOAL:.2f}, memory < {MEMORY_GOAL_MIB:.0f} MiB: ", end="")
    print(verdict([row["reached"] for row in rows]))
    write_json(options.json, rows)


def command_line() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one run (default 3)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each generator (default 5)")
    levels = [1, 64, 1000, 10_000]
    parser.add_argument("--connections", type=int, nargs="+", default=levels, help="default 1 64 1000 10000")
    parser.add_argument("--json", metavar="FILE", help="write the rows there as well")
    return parser.parse_args()


def compare(connections: int, seconds: float, rounds: int) -> dict[str, Any]:
    """Play all rounds at one level; return its row."""
    server_core, core = cores()
    seen: list[Round] = []
    with private_nginx(server_core) as address:
        length_s = seconds if connections < MANY else 3 * seconds
        job = Job(address=address, core=core, connections=connections, seconds=length_s)
        for number in range(rounds):
            order = CONTENDERS if number % 2 == 0 else CONTENDERS[::-1]
            seen.append({each.name: checked(each, job) for each in order})
    return row_of(connections, seen)


def checked(generator: Generator, job: Job) -> Seen:
    """Return what a generator saw; exit if it was not in order, as its cost would then mean nothing."""
    seen = run(generator, job)
    if seen.note or seen.errors or not seen.requests:
        sys.exit(f"{generator.name} at {job.connections} connections: {seen.note or f'{seen.errors} errors'}")
    return seen


def row_of(connections: int, rounds: Sequence[Round]) -> dict[str, Any]:
    """Return medians in microseconds, ratios as (median, least, most), memory in MiB and whether goals are met."""
    per_request = {each.name: [cost_us(seen[each.name]) for seen in rounds] for each in CONTENDERS}
    wrk = [theirs / mine for mine, theirs in zip(per_request["ours"], per_request["wrk"], strict=True)]
    floor = [mine / bare for mine, bare in zip(per_request["ours"], per_request["floor"], strict=True)]
    speed = [rate(seen["ours"]) / rate(seen["wrk"]) for seen in rounds]
    memory_mib = max(seen["ours"].more["memory_growth_bytes"] for seen in rounds) / 2**20
    return {
        "connections": connections,
        **{f"{name}_us": statistics.median(costs) for name, costs in per_request.items()},
        "per_cpu_s_over_wrk": spread(wrk),
        "cpu_over_floor": spread(floor),
        "throughput_over_wrk": statistics.median(speed),
        "memory_mib": memory_mib,
        "reached": statistics.median(wrk) >= WRK_GOAL
        and statistics.median(floor) <= FLOOR_GOAL
        and memory_mib < MEMORY_GOAL_MIB,
    }


def cost_us(seen: Seen) -> float:
    """Return microseconds of CPU per right answer."""
    assert seen.cpu_s is not None and seen.requests is not None
    return 1e6 * seen.cpu_s / seen.requests


def rate(seen: Seen) -> float:
    """Return right answers per second."""
    assert seen.seconds is not None and seen.requests is not None
    return seen.requests / seen.seconds


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Return median, least and most."""
    return statistics.median(values), min(values), max(values)


def row_text(row: Mapping[str, Any]) -> str:
    """Return a row for the terminal."""
    cells = [f"{row['connections']:,}"]
    cells += [f"{row[f'{each.name}_us']:.2f}" for each in CONTENDERS]
    cells += ["{:.2f} ({:.2f} to {:.2f})".format(*row[name]) for name in ("per_cpu_s_over_wrk", "cpu_over_floor")]
    return line([*cells, f"{row['throughput_over_wrk']:.2f}", f"{row['memory_mib']:.1f} MiB"], WIDTHS)


if __name__ == "__main__":
    main()
