"""Would slices adjusted for theft be worth it? Error rates and widths of pairs' 95 % limits, with and without.

    python -m benchmarks.method.theft                       about two minutes of an idle core
    python -m benchmarks.method.theft --quick               a smoke test, too few races for the goals

Races of identical stacks meet theft of several kinds. Their slices are adjusted by four rules of `covariate.py`:
slopes within launches, slopes between launches, strictly (within launches, and only where p-values of at least one
half leave no doubt), and of mild theft only (within launches, an sd of at most 6 %, and no stack with more of it
than the others at p < 5 %). Limits are those of `stats.pairs` and `stats.variances`. Seeds are fixed.

Launches have one slice, two, or one in blocks 1 to 3 and two from block 4 on ("1, then 2", as the default race).
A slice varies by 3 % within its launch, a launch by 2.7 %. Throughput falls as the share of the core that is left,
and that share is known to 0.8 %: ticks of 10 ms in half a second.

The columns: races that were adjusted; pairs whose limits exclude the truth, without the adjustment and with it
(upper 95 % bound), where one stack is special its pairs alone; the variance of a difference and the median width of
its limits, relative to those without. Goals: the bound at most 6.5 % everywhere, and limits at most 0.9 × as wide
under mild theft.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import scipy

from stackrace.stats.pairs import pairs
from stackrace.stats.variances import measured as variances

from ..rig.tables import line, verdict, write_json
from .covariate import Array, Rule, adjusted
from .weather import KINDS, SPEEDS, Kind, simulated

__all__ = ["RULES", "Cell", "judged", "measured"]

SEED = 26
STACKS = 10
BOUND = 0.065
MATERIAL = 0.9
"""Limits that are less than a tenth narrower save no block."""

RULES = {
    "within launches": Rule(),
    "between launches": Rule(between=True),
    "strictly": Rule(alike=0.5, even=0.5),
    "of mild theft": Rule(even=0.05, most=0.06),
}

Slices = Callable[[int], list[int]]
DESIGNS: dict[str, Slices] = {
    "one": lambda blocks: [1] * blocks,
    "two": lambda blocks: [2] * blocks,
    "1, then 2": lambda blocks: [1 if block < 3 else 2 for block in range(blocks)],
}
"""Slices of a launch, block by block."""

RACES = (("one", 3), ("one", 6), ("two", 3), ("two", 6), ("1, then 2", 4), ("1, then 2", 5), ("1, then 2", 6),
         ("1, then 2", 8))  # fmt: skip
"""Designs and numbers of blocks; a default race of three minutes makes 4 to 8 of the last design."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one rule did under one kind of weather; shares and ratios, see the module."""

    used: float
    plain: float
    wrong: float
    bound: float
    everybody: float
    variance: float
    width: float

    @property
    def kept(self) -> bool:
        """Whether the error rate stays where it may be."""
        return self.bound <= BOUND


def measured(kind: Kind, rule: Rule, design: str, blocks: int, races: int, stacks: int = STACKS) -> Cell:
    """Return what ``rule`` does to races of so many ``blocks``."""
    slices = DESIGNS[design](blocks)
    block = np.repeat(np.arange(blocks), slices)
    found: list[tuple[Array, ...]] = []
    for values, seen, truth in simulated(kind, stacks, slices, races, SEED):
        changed = adjusted(values, seen, block.tolist(), rule)
        one, other = np.triu_indices(stacks, 1)
        apart = truth[one] - truth[other]
        kept = one == 0 if kind.special else np.ones(len(one), dtype=bool)
        before, after = (judged(each, block, apart) for each in (values, changed.values))
        found.append((
            changed.used, before[0][:, kept].mean(axis=1), after[0][:, kept].mean(axis=1), after[0].mean(axis=1),
            (before[1] ** 2).mean(axis=1), (after[1] ** 2).mean(axis=1),
            np.median(before[2], axis=1), np.median(after[2], axis=1),
        ))  # fmt: skip
    used, plain, wrong, everybody, loose, tight, wide, narrow = (
        np.concatenate(each) for each in zip(*found, strict=True)
    )
    return Cell(
        used=float(used.mean()),
        plain=float(plain.mean()),
        wrong=float(wrong.mean()),
        # pairs of one race are no trials of their own
        bound=float(wrong.mean() + 1.645 * wrong.std(ddof=1) / math.sqrt(len(wrong))),
        everybody=float(everybody.mean()),
        variance=float(tight.mean() / loose.mean()),
        width=float(np.median(narrow) / np.median(wide)),
    )


def judged(values: Array, block: npt.NDArray[np.int64], truth: Array) -> tuple[Array, Array, Array]:
    """Return of each pair whether its 95 % limits exclude the truth, its error, and its half-width."""
    numbers = np.unique(block)
    means = np.stack([np.nanmean(values[..., block == number], axis=-1) for number in numbers], axis=-1)
    one, other = np.triu_indices(means.shape[-2], 1)
    found = pairs(means)
    variance, nu = (each[..., one, other] for each in variances(found).of_pairs())
    width = scipy.stats.t.ppf(0.975, nu) * np.sqrt(variance / len(numbers))
    error = found.estimate[..., one, other] - truth
    return np.abs(error) > width, error, width


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=1000, help="simulated races per row (default: 1000)")
    parser.add_argument("--quick", action="store_true", help="40 races per row, to see that all of it runs")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    races = 40 if options.quick else options.races
    rows = [row for name, rule in RULES.items() for row in _table(name, rule, races)]
    write_json(options.json, rows)


def _table(name: str, rule: Rule, races: int) -> list[dict[str, object]]:
    print(f"\nSlopes {name}; {STACKS} stacks, {races} races in each row")
    widths = [-20, -9, 6, 8, 9, 15, 9, 7]
    print(
        line(
            ["weather", "slices", "blocks", "adjusted", "wrong: as is", "with (bound)", "variance", "width"], widths
        )
    )
    rows: list[dict[str, object]] = []
    for kind in KINDS:
        for design, blocks in RACES:
            cell = measured(kind, rule, design, blocks, races)
            rows.append({"rule": name, "weather": kind.name, "slices": design, "blocks": blocks, **asdict(cell)})
            if cell.used > 0:
                told = [f"{cell.used:.0%}", f"{cell.plain:.1%}", f"{cell.wrong:.1%} ({cell.bound:.1%})",
                        f"x {cell.variance:.2f}", f"x {cell.width:.2f}"]  # fmt: skip
                print(line([kind.name, design, str(blocks), *told], widths), flush=True)
    untold = {(row["slices"], row["blocks"]) for row in rows} - {
        (row["slices"], row["blocks"]) for row in rows if float(str(row["used"])) > 0
    }
    print(
        "never adjusted: " + (", ".join(f"{a} a launch, {b} blocks" for a, b in sorted(untold, key=str)) or "none")
    )
    _goals(rows)
    return rows


def _goals(rows: list[dict[str, object]]) -> None:
    theft = [row for row in rows if row["weather"] not in {kind.name for kind in SPEEDS}]
    kept = [float(str(row["bound"])) <= BOUND for row in theft]
    print(f"theft, bound at most 6.5 %: {verdict(kept)} ({sum(kept)} of {len(kept)})")
    mild = [
        float(str(row["width"])) for row in theft if row["weather"] == "mild, 3 %" and row["slices"] == "1, then 2"
    ]
    print(f"mild theft, limits at most x {MATERIAL} in 4 to 8 blocks: {verdict([w <= MATERIAL for w in mild])}")


if __name__ == "__main__":
    main()
