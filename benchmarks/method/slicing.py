"""What slices save against whole launches: limits that are as narrow in less time.

    python -m benchmarks.method.slicing --races 1 --budget 300

The same stacks, for the same time each, in several protocols: interleaved slices of 0.3, 0.6, 1 and 2 s on
launches that are all up at once, and whole launches, one stack after the other, measured cold and in one piece
of 2 and 6 s. For each the standard deviations, in ln of the throughput: of a slice within its launch and between
launches, as the pilot of a race has them (not where a launch has a single slice), and of a block's difference of
two stacks, which is what limits are made of. The last column is the efficiency: 1 ÷ (sd² × minutes for a block),
how much a minute tells, relative to the best of the whole-launch protocols. An sd from 20 blocks is known to a
sixth, an efficiency to a third: --races 3 tells smaller differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import fmean, median, variance

from stackrace.race.race_view import turns
from stackrace.race.results.race import Race

from ._races import Arena, arena, options, rounds, table, write
from .components import pilot

STACKS = ("gunicorn:workers=1,class=gthread", "waitress", "cheroot")
SLICES_S = (0.3, 0.6, 1.0, 2.0)
WHOLE_S = (2.0, 6.0)
"""Lengths of a slice, and of a measurement that is a launch's only one."""

Values = dict[tuple[str, int], dict[int, float]]


def values(raced: Race) -> Values:
    """Return ln of the throughput of every valid slice, by stack and block, then by pass."""
    found: Values = {}
    for one in turns(raced):
        found.setdefault((one.stack, one.block), {})[one.turn] = one.value
    return found


def components(found: Values) -> tuple[float | None, float | None]:
    """Return the standard deviations of a slice within its launch and between launches; see `components.pilot`."""
    stacks, blocks = ({key[at] for key in found} for at in (0, 1))
    passes = {
        block: sorted({turn for (_, b), own in found.items() if b == block for turn in own}) for block in blocks
    }
    seen = pilot([
        [[found[stack, block].get(turn, math.nan) for turn in passes[block]] if (stack, block) in found else []
         for block in sorted(blocks)]
        for stack in sorted(stacks)
    ])  # fmt: skip
    return (None, None) if seen is None else (math.sqrt(seen.within), math.sqrt(seen.between))


def apart(found: Values) -> float | None:
    """Return the standard deviation of a block's difference, the median over all pairs of stacks."""
    stacks, blocks = {stack for stack, _ in found}, {block for _, block in found}
    deviations = []
    for one, other in combinations(sorted(stacks), 2):
        both = [block for block in blocks if (one, block) in found and (other, block) in found]
        differences = [fmean(found[one, block].values()) - fmean(found[other, block].values()) for block in both]
        if len(differences) > 2:
            deviations.append(math.sqrt(variance(differences)))
    return median(deviations) if deviations else None


def described(name: str, raced: Race | None) -> dict[str, object]:
    """Return one protocol's figures; a race without a result has no blocks."""
    found, elapsed_s = (values(raced), raced.elapsed_s) if raced else ({}, 0.0)
    (inner, outer), sd = components(found), apart(found)
    blocks = len({block for _, block in found})
    refused = [not one.verdict.valid for launch in (raced.launches if raced else ()) for one in launch.slices]
    return {
        "protocol": name,
        "blocks": blocks,
        "slices a launch": fmean(map(len, found.values())) if found else 0.0,
        "refused": f"{fmean(refused):.0%}" if refused else None,
        "sd within": inner,
        "sd between": outer,
        "sd of a difference": sd,
        "s per block": elapsed_s / blocks if blocks else None,
        "per minute": 60 / (sd**2 * elapsed_s / blocks) if sd else None,
    }


def relative(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Add to each row how much a minute tells, relative to the best of the whole-launch protocols."""
    whole = [float(str(row["per minute"])) for row in rows if "whole" in str(row["protocol"]) and row["per minute"]]
    return [
        {**row, "efficiency": float(str(row["per minute"])) / max(whole) if row["per minute"] and whole else None}
        for row in rows
    ]


def main() -> None:
    """Race every protocol and print how much each tells in a minute."""
    parser = options("slicing", __doc__ or "", races=1, seconds=300.0)
    parser.add_argument("--stack", action="append", help=f"a stack, again for more; {', '.join(STACKS)}")
    given = parser.parse_args()
    stacks = given.stack or STACKS
    rows: list[dict[str, object]] = []
    with arena() as place:
        for _ in rounds(given, len(SLICES_S) + len(WHOLE_S)):
            for name, raced in protocols(place, given.budget, stacks):
                rows.append(described(name, raced))
                table("what a minute tells, relative to whole launches; so far", relative(rows))
                write(given.json, relative(rows))


def protocols(place: Arena, seconds: float, stacks: Sequence[str]) -> Iterator[tuple[str, Race | None]]:
    """Race every protocol once."""
    for length in WHOLE_S:
        # more repeats than will fit: the budget ends it
        raced = place.race(stacks, load={"duration": f"{length}s"}, budget=seconds, repeats=1000)
        yield f"whole launches of {length:g} s", raced
    for length in SLICES_S:
        yield f"slices of {length:g} s", place.race(stacks, budget=seconds, slice=length, exhaustive=True)


if __name__ == "__main__":
    main()
