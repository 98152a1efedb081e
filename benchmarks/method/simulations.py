"""What the statistics promise, counted in simulated races: errors, coverage, answers in time, power.

    python -m benchmarks.method.simulations                         about 25 minutes of one idle core
    python -m benchmarks.method.simulations --quick                 a smoke test, too few races for the goals
    python -m benchmarks.method.simulations --only answers          one table; the names are below
    python -m benchmarks.method.simulations --markdown FILE         write the tables to a file

Launches are drawn from models of noise (benchmarks/method/noise.py), and judged by the functions of
stackrace.stats. Seeds are fixed: the same code prints the same tables. Shares are per cent of races, in brackets
with the binomial 95 % upper bound (Wilson). Goals: errors in at most 5 %, bound at most 6.5 %; coverage 93 to 97 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..rig.tables import write_json
from .figures import FIGURES
from .figures.figure import Figure, Row

OPENING = """# What simulated races say about the method

Made by `python -m benchmarks.method.simulations --markdown FILE`.

Simulated stacks have a known truth, so errors can be counted. The functions that judge these races are those that
judge real ones. Differences below δ = ln 1.05 do not matter. A launch's ln(throughput) has an sd of 5 % unless a
row says otherwise. Bold figures miss their goal.

The last six models of noise are held out: no constant was fitted to them. Theft takes 0 to 40 % of the machine and
stays for some ten measurements. Blocks cancel it, as long as all stacks feel it alike. Where one stack feels half
of it, the limits are too narrow. A real race measures slices with more than 5 % of theft again; the next model has
theft of up to 5 %. The models are in `benchmarks/method/noise.py`.
"""


def main() -> None:
    """Print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=2000, help="simulated races per cell (default: 2000)")
    parser.add_argument("--quick", action="store_true", help="40 races per cell, to see that all of it runs")
    parser.add_argument("--only", choices=FIGURES, action="append", help="this one, again for more")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables there, too")
    options = parser.parse_args()
    texts, rows = [OPENING.rstrip()], []
    for name in options.only or FIGURES:
        figure = FIGURES[name]
        races = 40 if options.quick else max(options.races // figure.fewer, 1)
        made = list(_printed(figure, races))
        texts.append("\n".join([*_head(figure, races), *(_line(row.cells) for row in made), *_foot(made)]))
        rows += [{"table": name, **row.data} for row in made]
        _write(options.markdown, "\n".join(texts) + "\n")
        write_json(options.json, rows)


def _printed(figure: Figure, races: int) -> Iterator[Row]:
    """Print a table as its rows come."""
    print(*_head(figure, races), sep="\n", flush=True)
    made = []
    for row in figure.rows(races):
        print(_line(row.cells), flush=True)
        made.append(row)
        yield row
    print(*_foot(made), sep="\n", flush=True)


def _head(figure: Figure, races: int) -> list[str]:
    columns = [_line(figure.columns), _line(["---"] * len(figure.columns))]
    return [f"\n## {figure.title}\n", figure.measured, f"{races:,} races a cell.\n", *columns]


def _foot(rows: list[Row]) -> list[str]:
    """Say how many of a table's cells hold its goal; nothing for a table without one."""
    kept = [one for row in rows for one in row.kept]
    return [f"\nCells that hold the goal: {sum(kept)} of {len(kept)}."] if kept else []


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _write(path: str | None, text: str) -> None:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
