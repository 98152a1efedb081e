"""What the statistics promise, counted in simulated races: coverage, false orders, power, and what others say.

    python -m benchmarks.method.simulations            about three minutes of one core
    python -m benchmarks.method.simulations --quick    a smoke test, too few races for the goals

Launches of identical stacks are drawn from models of noise (benchmarks/method/noise.py) and judged by the functions
of stackrace.stats, at all seven planned looks. Seeds are fixed: the same code prints the same tables.

Goals: a pair's own 95 % limits hold in 93 to 97 % (98 % and more says that limits are wider than they need be);
some false order in at most 5 % of races, the binomial 95 % upper bound at most 6.5 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from stackrace.stats.looks import LOOKS

from ..rig.tables import line, verdict, write_json
from .noise import MODELS, Noise
from .shares import upper_bound
from .trials import coverage, false_orders, false_orders_cut, power, reversals

FAMILIES = (2, 3, 5, 8, 12, 20)
SEED = 2007
NAME = -20
COVERED = (0.93, 0.97)
FALSE, BOUND = 0.05, 0.065
DIFFERENCES = (0.02, 0.03, 0.05, 0.10)
SDS = (0.03, 0.05, 0.10)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=2000, help="simulated races per cell (default: 2000)")
    parser.add_argument("--quick", action="store_true", help="40 races per cell, to see that all of it runs")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    races = 40 if options.quick else options.races
    rows = [*_coverage(races // 2), *_false_orders(races), *_power(races // 4), *_reversals(races // 2)]
    write_json(options.json, rows)


def _coverage(races: int) -> list[dict[str, object]]:
    print(f"\nPairs whose own 95 % limits hold, per cent, five stacks, {races} races; by look")
    print(line(["noise", *(f"n={n}" for n in LOOKS)], [NAME, *[6] * len(LOOKS)]))
    rows, inside = [], []
    for model in MODELS:
        held = coverage(model, 5, races, SEED)
        inside += [COVERED[0] <= share <= COVERED[1] for share in held]
        print(line([model.name, *(f"{100 * share:.1f}" for share in held)], [NAME, *[6] * len(LOOKS)]), flush=True)
        rows.append({"table": "coverage", "noise": model.name, "looks": LOOKS, "held": held})
    print(f"93 to 97 %: {sum(inside)} of {len(inside)}")
    return rows


def _false_orders(races: int) -> list[dict[str, object]]:
    print(f"\nRaces of identical stacks with any false order at any look, per cent (upper bound), {races} races")
    rows = _orders("false orders", false_orders, races)
    print("\nThe same, of races that their budget ends after 2 to 40 launches, with their last standing")
    return rows + _orders("false orders, cut", false_orders_cut, races)


def _orders(table: str, counted: Callable[[Noise, int, int, int], float], races: int) -> list[dict[str, object]]:
    print(line(["noise", *(f"{k} stacks" for k in FAMILIES)], [NAME, *[12] * len(FAMILIES)]))
    rows, kept = [], []
    for model in MODELS:
        cells = []
        for stacks in FAMILIES:
            share = counted(model, stacks, races, SEED)
            bound = upper_bound(share, races)
            kept.append(share <= FALSE and bound <= BOUND)
            cells.append(f"{100 * share:.1f} ({100 * bound:.1f})")
            rows.append({"table": table, "noise": model.name, "stacks": stacks, "share": share})
        print(line([model.name, *cells], [NAME, *[12] * len(FAMILIES)]), flush=True)
    print(f"at most 5 %, bound at most 6.5 %: {verdict(kept)} ({sum(kept)} of {len(kept)})")
    return rows


def _power(races: int) -> list[dict[str, object]]:
    print(f"\nRaces for a winner that is so far ahead of all others, difference that matters 5 %, {races} races")
    widths = [-7, 10, 10, 9, 12, 16, 17]
    titles = ["stacks", "launch sd", "ahead by", "answered", "best named", "proved better", "median launches"]
    print(line(titles, widths))
    rows: list[dict[str, object]] = []
    for stacks in (2, 6, 12):
        for sd in SDS:
            for difference in DIFFERENCES:
                found = power(MODELS[0], stacks, difference, sd, races, SEED)
                shares = [f"{100 * share:.0f} %" for share in (found.answered, found.right, found.ordered)]
                told = [str(stacks), f"{sd:.0%}", f"{difference:.0%}", *shares, f"{found.blocks:.0f}"]
                print(line(told, widths), flush=True)
                rows.append({"table": "power", "stacks": stacks, "sd": sd, "difference": difference,
                             "answered": found.answered, "right": found.right, "ordered": found.ordered,
                             "blocks": found.blocks})  # fmt: skip
    return rows


def _reversals(races: int) -> list[dict[str, object]]:
    print(
        f"\nTwelve stacks within 30 %: {races} races, and how many per cent of them"
        " show a pair that is over 3 % apart the wrong way round"
    )
    rows: list[dict[str, object]] = []
    for model in MODELS:
        found = reversals(model, 12, races, SEED)
        if not rows:
            print(line(["noise", *found], [NAME, *[24] * len(found)]))
        print(
            line([model.name, *(f"{100 * one:.1f}" for one in found.values())], [NAME, *[24] * len(found)]),
            flush=True,
        )
        rows.append({"table": "reversals", "noise": model.name, **found})
    return rows


if __name__ == "__main__":
    main()
