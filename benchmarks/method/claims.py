"""What the family of a comparison's claims promises, counted: wrong words, and how many claims are told, and when.

    python -m benchmarks.method.claims            some minutes of one core
    python -m benchmarks.method.claims --quick    a smoke test, too few races for the goals

Three tables. *Wrong words*: the share of simulated families of which anything wrong is said at any look: a ratio
called more or less that is not, or no difference that matters where there is one; under every model of noise.py
and for three sets of true ratios. *Told by blocks*: of the claims of the five published comparisons, how many the
procedure before this one (limits for all at once, by Bonferroni) and this one tell after so many blocks. *Told in
time*: how many are told in the time of the quick forms, with what a block costs, cells dropped whose claims are
told.

The true ratios of the last two are those of docs/historic, and so is the noise: a standard deviation of one
block's difference, worked back from the printed limits. Of litespeed-2007, which was kept in cold runs only, it is
that of the static part's slices. The noise of both hours is scaled so that the procedure before leaves as many
claims open as it did: 42 in the kept reports, 25 in a quiet hour.

Goals: something wrong in at most 5 % of families, the binomial 95 % upper bound at most 6.5 %.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stackrace.features.comparisons.claims import Answer, Panel, Settled, settled

from ..rig.tables import line, verdict, write_json
from .noise import MODELS, Array, blocks
from .ratios import Contrast, ratios
from .shares import upper_bound

SEED = 2007
NAME = -20
DELTA = math.log(1.05)
FALSE, BOUND = 0.05, 0.065
BLOCKS = (3, 4, 6, 8, 12)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a published comparison: claims by their true ln ratio and the sd of a block's difference.

    ``claims`` holds (group, ln ratio, sd, kind); kind is + for more, - for less, = for the same, ≤ for no more. The
    time in seconds: ``quick_s`` in all, ``first_s`` for the first block, ``stack_s`` to launch and warm each of
    ``stacks`` in later ones, ``cell_s`` for each cell. ``before`` counts the blocks that it had in the kept report.
    ``fails`` are claims of failing, which three launches tell.
    """

    name: str
    comparison: str
    claims: tuple[tuple[int, float, float, str], ...]
    quick_s: float
    first_s: float
    stack_s: float
    stacks: int
    cell_s: float
    before: int
    fails: int = 0


def _levels(ratios: Sequence[float], sds: Sequence[float], kind: str) -> tuple[tuple[int, float, float, str], ...]:
    return tuple((at, ratio, sd, kind) for at, (ratio, sd) in enumerate(zip(ratios, sds, strict=True)))


WARM = (0.10, 0.11, 0.12, 0.15, 0.18) * 2
"""litespeed-2007 has no kept slices: these are the sds of the static part's slices by clients."""

PARTS = (
    Part(
        name="race", comparison="litespeed-2007",
        claims=_levels((-0.31, -0.40, -0.45, -0.25, -0.48, -0.30, -0.26, -0.37, -0.27, -0.46), WARM, "+")
        + _levels((-0.25, -0.09, -0.13, -0.01, -0.17, 0.0, -0.12, -0.05, -0.08, 0.01), WARM, "+"),
        quick_s=690, first_s=80, stack_s=2.5, stacks=4, cell_s=1.1, before=3,
    ),
    Part(
        name="twenty", comparison="nginx-mod-wsgi-2007", claims=((0, 0.46, 0.14, "-"), (0, 0.13, 0.195, "+")),
        quick_s=110, first_s=15, stack_s=2.5, stacks=3, cell_s=1.5, before=4,
    ),
    Part(
        name="five hundred", comparison="nginx-mod-wsgi-2007",
        claims=((0, -0.10, 0.20, "+"), (1, -0.97, 0.20, "-")),
        quick_s=290, first_s=60, stack_s=0, stacks=0, cell_s=11, before=2, fails=3,
    ),
    Part(
        name="race", comparison="lighttpd-2008",
        claims=((0, 0.25, 0.08, "+"), (0, 0.45, 0.107, "+"), (0, 0.21, 0.118, "+"), (0, -0.45, 0.107, "+"),
                (1, -0.03, 0.153, "=")),
        quick_s=170, first_s=20, stack_s=3, stacks=3, cell_s=1.0, before=4,
    ),
    Part(
        name="static", comparison="mod-wsgi-2009",
        claims=_levels((-0.69, -0.63, -0.71), (0.108, 0.112, 0.172), "-")
        + _levels((-0.62, -0.69, -0.71), (0.106, 0.09, 0.186), "-")
        + _levels((-0.04, -0.03, 0.17), (0.12, 0.098, 0.261), "+")
        + _levels((-0.31, -0.33, -0.54), (0.115, 0.101, 0.242), "≤")
        + ((3, -0.09, 0.078, "-"), (0, -0.05, 0.096, "-"), (1, -0.08, 0.116, "-"), (2, -0.01, 0.193, "-"),
           (0, 0.10, 0.087, "-")),
        quick_s=520, first_s=90, stack_s=3, stacks=7, cell_s=1.0, before=3, fails=4,
    ),
    Part(
        name="ladder", comparison="mod-wsgi-2009",
        claims=((0, -0.53, 0.256, "-"), (0, -1.05, 0.157, "-"), (0, -1.35, 0.196, "-"), (0, -0.09, 0.185, "-"),
                (0, -1.83, 0.238, "-"), (0, -0.63, 0.155, "-")),
        quick_s=345, first_s=30, stack_s=4, stacks=1, cell_s=3.0, before=4,
    ),
    Part(
        name="rails", comparison="mod-wsgi-2009",
        claims=((0, -0.11, 0.12, "+"), (0, -0.48, 0.089, "-"), (0, 0.04, 0.101, "≤"), (0, 4.51, 0.112, "+"),
                (0, 0.38, 0.099, "+"), (0, -3.91, 0.139, "+")),
        quick_s=230, first_s=30, stack_s=4, stacks=2, cell_s=1.3, before=4,
    ),
    Part(
        name="race", comparison="deployment-2010",
        claims=((0, 0.31, 0.087, "-"), (0, -0.19, 0.152, "="), (1, 1.19, 0.284, "+")),
        quick_s=690, first_s=233, stack_s=0, stacks=0, cell_s=5.3, before=3, fails=1,
    ),
)  # fmt: skip

CLAIMS = sum(len(part.claims) + part.fails for part in PARTS)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=2000, help="simulated families per cell (default: 2000)")
    parser.add_argument("--quick", action="store_true", help="40 families per cell, to see that all of it runs")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    races = 40 if options.quick else options.races
    rows = [*_told_in_time(max(races // 20, 10)), *_told_by_blocks(max(races // 20, 10)), *_wrong(races)]
    write_json(options.json, rows)


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


def _wrong(races: int) -> list[dict[str, object]]:
    columns = [(family, kind, sd) for family in FAMILIES for kind in TRUTHS for sd in SDS]
    print(f"\nFamilies of which anything wrong is said over all looks, per cent (upper bound), {races} of each")
    rows, kept = [], []
    for family in FAMILIES:
        print(f"\n{family.name}; launch sd {' and '.join(f'{sd:.0%}' for sd in SDS)}")
        own = [(kind, sd) for one, kind, sd in columns if one is family]
        print(line(["noise", *(kind for kind, _ in own)], [NAME, *[13] * len(own)]))
        for model in MODELS:
            cells = []
            for kind, sd in own:
                count = 0
                for start in range(0, races, CHUNK):
                    dice = np.random.default_rng([SEED, len(family.group), start])
                    many = min(CHUNK, races - start)
                    drawn = blocks(model, dice, many, len(family.group), LAST, sd)
                    truth = _truth(kind, len(family.group), many, dice)
                    theta = np.stack([truth[:, i] - truth[:, j] for i, j in family.pairs], axis=-1)
                    panel = Panel(values=drawn + truth[..., None], group=family.group, contrasts=family.pairs)
                    count += int(wrong(settled([panel], delta=DELTA), theta).any(axis=-1).sum())
                share, bound = count / races, upper_bound(count / races, races)
                kept.append(share <= FALSE and bound <= BOUND)
                cells.append(f"{100 * share:.1f} ({100 * bound:.1f})")
                rows.append({"table": "wrong", "family": family.name, "noise": model.name, "truth": kind,
                             "sd": sd, "share": share})  # fmt: skip
            print(line([model.name, *cells], [NAME, *[13] * len(own)]), flush=True)
    print(f"at most 5 %, bound at most 6.5 %: {verdict(kept)} ({sum(kept)} of {len(kept)})")
    return rows


def _cells(part: Part) -> tuple[list[int], list[tuple[int, int]]]:
    """Give each claim two cells of its own: what real claims share only helps."""
    group = [claim[0] for claim in part.claims for _ in (0, 1)]
    return group, [(2 * at, 2 * at + 1) for at in range(len(part.claims))]


def _drawn(part: Part, times: float, races: int, n: int, dice: np.random.Generator) -> Array:
    values = dice.normal(0, 1, (races, 2 * len(part.claims), n))
    for at, (_, ratio, sd, _) in enumerate(part.claims):
        values[:, 2 * at : 2 * at + 2] *= times * sd / math.sqrt(2)
        values[:, 2 * at] += ratio
    return values


def _share(part: Part) -> float:
    return len(part.claims) / sum(len(one.claims) for one in PARTS if one.comparison == part.comparison)


def _told(part: Part, found: Settled) -> tuple[Array, Array]:
    """Return which claims have an answer, and which have one or are refuted on the side that was claimed."""
    whole = found.answer != Answer.OPEN
    halves = [{"+": found.below, "≤": found.below, "-": found.above}.get(claim[3]) for claim in part.claims]
    half = np.stack(
        [np.zeros(len(whole), dtype=bool) if one is None else one[:, at] for at, one in enumerate(halves)], axis=-1
    )
    said = whole | half & np.array([claim[3] == "≤" for claim in part.claims])
    return np.asarray(said), np.asarray(whole | half)


def _judged(part: Part, values: Array, *, ended: bool) -> Settled:
    group, pairs = _cells(part)
    return settled(
        [Panel(values=values, group=group, contrasts=pairs)], delta=DELTA, alpha=0.05 * _share(part), ended=ended
    )


def _before(part: Part, values: Array) -> int:
    """Count what limits for all claims of the comparison at once tell of one race."""
    family = round(len(part.claims) / _share(part))
    contrasts = [
        Contrast(
            this=2 * at, that=2 * at + 1, differences=tuple(values[2 * at] - values[2 * at + 1]), group=claim[0]
        )
        for at, claim in enumerate(part.claims)
    ]
    found = ratios(contrasts, 1 - 0.05 * len(contrasts) / family)
    return sum(
        one.low is not None and one.high is not None
        and (one.low > 1 or one.high < 1 or (claim[3] == "=" and one.low > 1 / 1.05 and one.high < 1.05))
        for one, claim in zip(found, part.claims, strict=True)
    )  # fmt: skip


HOURS = {"noisy": 1.3, "quiet": 0.5}
"""How much of the noise behind the kept limits there is: see above."""


def _told_by_blocks(races: int) -> list[dict[str, object]]:
    print(f"\nOf {CLAIMS} claims, told after so many blocks (claims of failing count), {races} races of each")
    titles = ["hour", "procedure", "as kept", *(f"n={n}" for n in BLOCKS)]
    widths = [-8, -44, *[8] * (len(BLOCKS) + 1)]
    print(line(titles, widths))
    rows: list[dict[str, object]] = []
    fails = sum(part.fails for part in PARTS)
    for hour, times in HOURS.items():
        told: dict[str, list[float]] = {name: [] for name in ("before", "answered", "or refuted on its side")}
        for n in (None, *BLOCKS):
            counts = np.zeros(3)
            for at, part in enumerate(PARTS):
                dice = np.random.default_rng([SEED, at, n or 0])
                values = _drawn(part, times, races, n or part.before, dice)
                whole, half = _told(part, _judged(part, values, ended=True))
                few = values[:40]
                counts += [
                    sum(_before(part, one) for one in few) / len(few),
                    whole.sum() / races,
                    half.sum() / races,
                ]
            for name, count in zip(told, counts, strict=True):
                told[name].append(fails + count)
        for name, figures in told.items():
            print(line([hour, name, *(f"{one:.1f}" for one in figures)], widths), flush=True)
            rows.append({"table": "told by blocks", "hour": hour, "procedure": name, "blocks": [0, *BLOCKS],
                         "told": figures})  # fmt: skip
    return rows


def _told_in_time(races: int) -> list[dict[str, object]]:
    print(f"\nOf {CLAIMS} claims, told in the time of the quick forms, {races} races of each")
    widths = [-8, -22, -14, 8, 10, 12, 10, 8]
    print(line(["hour", "comparison", "part", "claims", "answered", "or refuted", "minutes", "blocks"], widths))
    rows: list[dict[str, object]] = []
    for hour, times in HOURS.items():
        total = np.zeros(2)
        for at, part in enumerate(PARTS):
            dice = np.random.default_rng([SEED, at])
            found = np.array([_timed(part, times, dice) for _ in range(races)]).mean(axis=0)
            total += found[:2] + part.fails
            told = [f"{one + part.fails:.1f}" for one in found[:2]]
            told += [f"{found[2] / 60:.1f}", f"{found[3]:.1f}"]
            print(line([hour, part.comparison, part.name, str(len(part.claims) + part.fails), *told], widths))
            answered, refuted, seconds, made = found
            rows.append({"table": "told in time", "hour": hour, "comparison": part.comparison, "part": part.name,
                         "answered": answered, "refuted": refuted, "seconds": seconds, "blocks": made})  # fmt: skip
        shares = [f"{one:.1f} = {one / CLAIMS:.0%}" for one in total]
        print(f"{hour}: answered {shares[0]}, or refuted on the side that was claimed {shares[1]}", flush=True)
    return rows


def _timed(part: Part, times: float, dice: np.random.Generator) -> tuple[float, float, float, float]:
    """Race a part for its time: claims told (two ways), seconds, and blocks."""
    most = 40
    values = _drawn(part, times, 1, most, dice)
    spent_s, n = part.first_s, 1
    open_ = np.ones(len(part.claims), dtype=bool)
    while n < most and open_.any():
        # what is left launches fewer stacks, too
        left = open_.sum() / len(open_)
        block_s = part.stack_s * math.ceil(part.stacks * left**0.5) + part.cell_s * (
            2 * open_.sum() + (n < 3) * part.fails
        )
        if spent_s + block_s > part.quick_s:
            break
        spent_s += block_s
        values[:, np.repeat(~open_, 2), n] = np.nan
        n += 1
        _, half = _told(part, _judged(part, values[..., :n], ended=False))
        open_ &= ~half[0]
    whole, half = _told(part, _judged(part, values[..., :n], ended=True))
    return float(whole.sum()), float(half.sum()), spent_s, float(n)


if __name__ == "__main__":
    main()
