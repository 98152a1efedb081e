"""What the statistics promise, counted in simulated races: errors, coverage, answers in time, power.

    python -m benchmarks.method.simulations                         about 25 minutes of one idle core
    python -m benchmarks.method.simulations --quick                 a smoke test, too few races for the goals
    python -m benchmarks.method.simulations --only answers          one table; the names are below

Launches are drawn from models of noise (benchmarks/method/noise.py), and judged by the functions of
stackrace.stats. Seeds are fixed: the same code prints the same tables. Shares are per cent of races, in brackets
with the binomial 95 % upper bound (Wilson). Goals: errors in at most 5 %, bound at most 6.5 %; coverage 93 to 97 %.
"""

from __future__ import annotations

import argparse

from ..rig.tables import markdown
from .figures import FIGURES

OPENING = """# What simulated races say about the method

Simulated stacks have a known truth, so errors can be counted. The functions that judge these races are those that
judge real ones. Differences below δ = ln 1.05 do not matter. A launch's ln(throughput) has an sd of 5 % unless a
row says otherwise. Bold figures miss their goal.

The last six models of noise are held out: no constant was fitted to them. Theft takes 0 to 40 % of the machine and
stays for some ten measurements. Blocks cancel it, as long as all stacks feel it alike. Where one stack feels half
of it, the limits are too narrow. A real race measures slices with more than 5 % of theft again; the next model has
theft of up to 5 %. The models are in `benchmarks/method/noise.py`.
"""


def main() -> None:
    """Print the tables as Markdown, each row as it comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=2000, help="simulated races per cell (default: 2000)")
    parser.add_argument("--quick", action="store_true", help="40 races per cell, to see that all of it runs")
    parser.add_argument("--only", choices=FIGURES, action="append", help="this one, again for more")
    options = parser.parse_args()
    print(OPENING.rstrip())
    for name in options.only or FIGURES:
        figure = FIGURES[name]
        races = 40 if options.quick else max(options.races // figure.fewer, 1)
        print(f"\n## {figure.title}\n", figure.measured, f"{races:,} races a cell.\n", sep="\n")
        print(markdown(figure.columns), markdown(["---"] * len(figure.columns)), sep="\n", flush=True)
        kept: list[bool] = []
        for row in figure.rows(races):
            print(markdown(row.cells), flush=True)
            kept += row.kept
        if kept:
            print(f"\nCells that hold the goal: {sum(kept)} of {len(kept)}.", flush=True)


if __name__ == "__main__":
    main()
