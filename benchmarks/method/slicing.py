"""What slices save against whole launches: limits that are as narrow in less time.

    python benchmarks/method/slicing.py --races 1 --budget 300

The same stacks, for the same time each, in several protocols: interleaved slices of 0.3, 0.6, 1 and 2 s on
launches that are all up at once, and whole launches, one stack after the other, measured in one piece of 2 and 6
s. For each: the variance of a slice within its launch, that between launches, and the standard deviation of a
block's difference of two stacks (in ln of the throughput), which is what limits are made of. The last column is
the efficiency: 1 ÷ (sd² × minutes for a block), how much a minute tells, relative to the best of the whole-launch
protocols.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations
from statistics import fmean, median, variance

from _races import Arena, arena, budget, options, table, write

from stackrace.model.race import Race

STACKS = ("gunicorn:workers=1,class=gthread", "waitress", "cheroot")
SLICES_S = (0.3, 0.6, 1.0, 2.0)
WHOLE_S = (2.0, 6.0)
"""Lengths of a slice, and of a measurement that is a launch's only one."""

Values = dict[tuple[str, int], list[float]]


def values(raced: Race) -> Values:
    """Return ln of the throughput of every valid slice, by stack and block."""
    found: Values = defaultdict(list)
    for launch in raced.launches:
        for one in launch.slices:
            if one.verdict.valid and one.result.throughput_per_s > 0:
                found[launch.stack, launch.block].append(math.log(one.result.throughput_per_s))
    return found


def within(found: Values) -> float | None:
    """Return the variance of slices within their launch, over all launches that have two."""
    inner = [variance(ys) for ys in found.values() if len(ys) > 1]
    return fmean(inner) if inner else None


def between(found: Values, inner: float | None) -> float | None:
    """Return the variance between launches of a stack, what slices add to it taken off."""
    stacks = {stack for stack, _ in found}
    own = {stack: [fmean(ys) for (name, _), ys in found.items() if name == stack] for stack in stacks}
    seen = [variance(means) for means in own.values() if len(means) > 1]
    if not seen:
        return None
    number = fmean(len(ys) for ys in found.values())
    return max(fmean(seen) - (inner or 0.0) / number, 0.0)


def apart(found: Values) -> float | None:
    """Return the standard deviation of a block's difference, the median over all pairs of stacks."""
    stacks, blocks = {stack for stack, _ in found}, {block for _, block in found}
    deviations = []
    for one, other in combinations(sorted(stacks), 2):
        both = [block for block in blocks if (one, block) in found and (other, block) in found]
        differences = [fmean(found[one, block]) - fmean(found[other, block]) for block in both]
        if len(differences) > 2:
            deviations.append(math.sqrt(variance(differences)))
    return median(deviations) if deviations else None


def described(name: str, raced: Race) -> dict[str, object]:
    """Return one protocol's figures."""
    found = values(raced)
    inner, sd = within(found), apart(found)
    blocks = len({block for _, block in found})
    return {
        "protocol": name,
        "blocks": blocks,
        "slices a launch": fmean(map(len, found.values())) if found else 0.0,
        "sd within": None if inner is None else math.sqrt(inner),
        "sd between": None if (outer := between(found, inner)) is None else math.sqrt(outer),
        "sd of a difference": sd,
        "s per block": raced.elapsed_s / max(blocks, 1),
        "per minute": 60 / (sd**2 * raced.elapsed_s / blocks) if sd else None,
    }


def protocols(place: Arena, seconds: float, stacks: tuple[str, ...]) -> list[dict[str, object]]:
    """Race every protocol once."""
    rows = []
    for length in SLICES_S:
        raced = place.race(stacks, budget=seconds, slice=length, exhaustive=True)
        rows.append(described(f"slices of {length:g} s", raced))
        table("so far", rows)
    for length in WHOLE_S:
        # more repeats than will fit: the budget ends it
        raced = place.race(stacks, load={"duration": f"{length}s"}, budget=seconds, repeats=1000)
        rows.append(described(f"whole launches of {length:g} s", raced))
        table("so far", rows)
    return rows


def main() -> None:
    """Race every protocol and print how much each tells in a minute."""
    parser = options(__doc__ or "", races=1, seconds=300.0)
    parser.add_argument("--stack", action="append", help=f"a stack, again for more; {', '.join(STACKS)}")
    given = parser.parse_args()
    print(f"{budget(given)} for each of {len(SLICES_S) + len(WHOLE_S)} protocols")
    rows: list[dict[str, object]] = []
    with arena() as place:
        for _ in range(given.races):
            rows += protocols(place, given.budget, tuple(given.stack or STACKS))
    whole = [float(str(row["per minute"])) for row in rows if "whole" in str(row["protocol"]) and row["per minute"]]
    for row in rows:
        row["efficiency"] = float(str(row["per minute"])) / max(whole) if row["per minute"] and whole else None
    table("what a minute tells, relative to whole launches", rows)
    write(given.json, rows)


if __name__ == "__main__":
    main()
