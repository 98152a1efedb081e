"""What an adjustment for theft, or for the canary, does to races that were really run.

    python -m benchmarks.method.theft_recorded sqlite:////tmp/races.sqlite3

Every race of the store, by each rule of `theft.py` and each covariate. The slope is the pooled one: 1 where
throughput falls as what is left of the cores. "alike" is the p-value of "all stacks feel it alike", "adjusts"
whether the rule would adjust the race, and the width that of the pairs' limits if it did, relative to the race
as it is. The last column is the correlation, over all slices, of what others took with what the stack itself had of
its cores: where it is near -1, either says the same.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np

from stackrace.model.conditions import Conditions
from stackrace.model.launch import Slice
from stackrace.model.race import Race
from stackrace.store import open_store

from ..rig.tables import line, write_json
from .covariate import Array, Rule, adjusted
from .theft import RULES, judged

__all__ = ["COVARIATES", "recorded"]


def _left(one: Conditions) -> float:
    return math.log1p(-min(max(one.taken, -0.5), 0.95))


def _speed(one: Conditions) -> float:
    if one.canary_before_ns is None or one.canary_after_ns is None:
        return math.nan
    return -(math.log(one.canary_before_ns) + math.log(one.canary_after_ns)) / 2


COVARIATES: dict[str, Callable[[Conditions], float]] = {"theft": _left, "canary": _speed}
"""ln of what is left of the cores, and ln of their speed: either should have the slope 1."""


def recorded(race: Race) -> list[dict[str, object]]:
    """Return a row for each covariate and rule; the headline's slices only, those that are valid."""
    rows: list[dict[str, object]] = []
    for name, read in COVARIATES.items():
        values, seen, blocks = _table(race, read)
        for rule_name, rule in RULES.items():
            found = adjusted(values, seen, blocks, rule)
            forced = adjusted(values, seen, blocks, Rule(between=rule.between, alike=0.0))
            plain, narrow = (judged(each, np.array(blocks), np.zeros(1))[2] for each in (values, forced.values))
            rows.append(
                {
                    "race": race.id, "covariate": name, "rule": rule_name, "blocks": len(set(blocks)),
                    "slices": int(np.isfinite(values).sum()), "mean": float(np.nanmean(seen)),
                    "sd": float(np.nanstd(seen)), "slope": float(found.slope), "alike": float(found.alike),
                    "used": bool(found.used), "width": float(np.median(narrow) / np.median(plain)),
                    "mirrored": _mirrored(race),
                }
            )  # fmt: skip
    return rows


def _table(race: Race, read: Callable[[Conditions], float]) -> tuple[Array, Array, list[int]]:
    """Return ln(throughput) and the covariate by stack and pass; the r-th valid slices of a block are a pass."""
    found: dict[tuple[str, int], list[Slice]] = {}
    for launch in race.launches:
        if launch.verdict.valid and not launch.cut_short:
            valid = [one for one in launch.slices if one.verdict.valid and one.result.throughput_per_s > 0]
            if valid:
                found.setdefault((launch.stack, launch.block), []).extend(valid)
    whole = [
        block
        for block in sorted({key[1] for key in found})
        if all((stack, block) in found for stack in race.stacks)
    ]
    passes = [(block, at) for block in whole for at in range(max(len(found[s, block]) for s in race.stacks))]

    def cells(told: Callable[[Slice], float]) -> Array:
        return np.array(
            [
                [told(own[at]) if at < len(own := found[s, block]) else math.nan for block, at in passes]
                for s in race.stacks
            ]
        )

    values = cells(lambda one: math.log(one.result.throughput_per_s))
    return values, cells(lambda one: read(one.conditions) if one.conditions else math.nan), [b for b, _ in passes]


def _mirrored(race: Race) -> float:
    """Return the correlation of the share that others took with the stack's own; NaN where either never changes."""
    told = [
        (one.conditions.taken, one.cpu_s / (one.conditions.elapsed_s * one.conditions.cores))
        for launch in race.launches
        for one in launch.slices
        if one.conditions is not None
    ]
    shares = np.array(told or [(0.0, 0.0)])
    return float(np.corrcoef(shares.T)[0, 1]) if shares.std(axis=0).min() > 0 else math.nan


def main() -> None:
    """Print a table for each store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", nargs="+", metavar="URL", help="a store, as for --store of stackrace run")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for url in options.store:
        with open_store(url) as store:
            for summary in store.list(1000):
                rows += recorded(store.load(summary.id))
    widths = [-13, -9, -16, 6, 6, 7, 7, 7, 7, 8, 7, 9]
    heads = ["race", "covariate", "rule", "blocks", "slices", "mean", "sd", "slope", "alike", "adjusts", "width"]
    print(line([*heads, "with own"], widths))
    for row in rows:
        figures = [f"{row[name]:.2f}" for name in ("mean", "sd", "slope", "alike")]
        names = [str(row[name]) for name in ("race", "covariate", "rule", "blocks", "slices")]
        rest = ["yes" if row["used"] else "no", f"x {row['width']:.2f}", f"{row['mirrored']:.2f}"]
        print(line([*names, *figures, *rest], widths))
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
