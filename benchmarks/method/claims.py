"""How often something wrong is said of the claims of a comparison.

    python -m benchmarks.method.claims            some minutes of one core
    python -m benchmarks.method.claims --quick    a smoke test, too few races for the goals

It counts the simulated families of which anything wrong is said at any look: a ratio called more or less that is
not, or no difference that matters where there is one. Each model of noise.py meets three sets of true ratios.

Goals: something wrong in at most 5 % of families, the binomial 95 % upper bound at most 6.5 %.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from stackrace.features.comparisons.claims import Answer, Panel, Settled, settled

from ..rig.tables import line, verdict
from .noise import MODELS, Array, Noise, blocks
from .shares import upper_bound

SEED = 2007
NAME = -20
DELTA = math.log(1.05)
FALSE, BOUND = 0.05, 0.065
SDS = (0.02, 0.05)
LAST = 20
"""Blocks of a simulated family: enough for most looks."""

CHUNK = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """So many cells, the group of each, and the pairs that are claimed."""

    name: str
    group: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]


FAMILIES = (
    Family(name="2 claims, 3 cells", group=(0,) * 3, pairs=((1, 0), (2, 0))),
    Family(name="6 in a ladder", group=(0,) * 7, pairs=((1, 0), (2, 1), (3, 1), (4, 3), (5, 4), (6, 2))),
    Family(
        name="20 in 10 groups",
        group=tuple(i // 4 for i in range(40)),
        pairs=tuple((4 * g + i, 4 * g + i + 1) for g in range(10) for i in (0, 2)),
    ),
)

TRUTHS = ("all the same", "5 % apart", "mixed")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=2000, help="simulated families per cell (default: 2000)")
    parser.add_argument("--quick", action="store_true", help="40 families per cell, to see that all of it runs")
    options = parser.parse_args()
    _count(40 if options.quick else options.races)


def wrong(found: Settled, theta: Array) -> Array:
    """Tell of each contrast whether something wrong is said of it, for its true value."""
    near = 1e-12
    more = (found.answer == Answer.MORE) & (theta <= near)
    less = (found.answer == Answer.LESS) & (theta >= -near)
    same = (found.answer == Answer.SAME) & (np.abs(theta) >= DELTA - near)
    return np.asarray(more | less | same | found.below & (theta >= DELTA - near))


def _truth(kind: str, cells: int, races: int, dice: np.random.Generator) -> Array:
    if kind == "mixed":
        return dice.choice([0, 0, DELTA / 2, DELTA, 0.5, -0.7], (races, cells))
    apart = DELTA if kind == "5 % apart" else 0.0
    return np.tile(np.where(np.arange(cells) % 2, apart, 0.0), (races, 1))


def _count(races: int) -> None:
    print(f"\nFamilies of which anything wrong is said over all looks, per cent (upper bound), {races} of each")
    kept: list[bool] = []
    for family in FAMILIES:
        print(f"\n{family.name}; launch sd {' and '.join(f'{sd:.0%}' for sd in SDS)}")
        own = list(product(TRUTHS, SDS))
        widths = [NAME, *[13] * len(own)]
        print(line(["noise", *(kind for kind, _ in own)], widths))
        for model in MODELS:
            shares = [_share(family, model, kind, sd, races) for kind, sd in own]
            bounds = [upper_bound(share, races) for share in shares]
            kept += [share <= FALSE and bound <= BOUND for share, bound in zip(shares, bounds, strict=True)]
            cells = (f"{100 * one:.1f} ({100 * bound:.1f})" for one, bound in zip(shares, bounds, strict=True))
            print(line([model.name, *cells], widths), flush=True)
    print(f"at most 5 %, bound at most 6.5 %: {verdict(kept)} ({sum(kept)} of {len(kept)})")


def _share(family: Family, model: Noise, kind: str, sd: float, races: int) -> float:
    """Return the share of simulated families of which anything wrong is said."""
    count, cells = 0, len(family.group)
    for start in range(0, races, CHUNK):
        dice = np.random.default_rng([SEED, cells, start])
        many = min(CHUNK, races - start)
        drawn = blocks(model, dice, many, cells, LAST, sd)
        truth = _truth(kind, cells, many, dice)
        theta = np.stack([truth[:, i] - truth[:, j] for i, j in family.pairs], axis=-1)
        panel = Panel(values=drawn + truth[..., None], group=family.group, contrasts=family.pairs)
        count += int(wrong(settled([panel], delta=DELTA), theta).any(axis=-1).sum())
    return count / races


if __name__ == "__main__":
    main()
