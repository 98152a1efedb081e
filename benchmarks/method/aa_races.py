"""Identical stacks against each other: how often does a race call a difference where there is none?

    python benchmarks/method/aa_races.py --races 30 --budget 25

The stacks are one gunicorn under several spellings. Beside each race the customary protocol measures the first
two: one server after the other, three runs of four seconds each, and the means are compared. A false order of a
race is one of its own statements, "beats"; of the customary protocol it is a difference of means above the
difference that matters (5 %), and, stricter, Student's t-test at 5 %.
"""

from __future__ import annotations

import math
from statistics import fmean, variance

from _races import Arena, arena, budget, interval, options, table, write

SPELLINGS = (
    "gunicorn:workers=1,class=gthread,threads=4",
    "gunicorn:class=gthread,workers=1,threads=4",
    "gunicorn:threads=4,class=gthread,workers=1",
)
RUNS = 3
RUN_S = 4
MATTERS = 0.05
T_95 = 2.776
"""Student's quantile for twice three runs: four degrees of freedom."""


def customary(place: Arena, stack: str) -> list[float]:
    """Return the throughput of three runs of one stack, made in one go."""
    raced = place.race([stack], load={"duration": f"{RUN_S}s"}, repeats=RUNS)
    return [one.result.throughput_per_s for launch in raced.launches for one in launch.slices]


def significant(one: list[float], other: list[float]) -> bool:
    """Tell whether Student's unpaired t-test calls two sets of three runs different at 5 %."""
    if min(len(one), len(other)) < RUNS:
        return False
    pooled = (variance(one) + variance(other)) / 2
    return abs(fmean(one) - fmean(other)) > T_95 * math.sqrt(2 * pooled / RUNS)


def main() -> None:
    """Run the races and print how often each protocol was wrong."""
    parser = options(__doc__ or "", races=30, seconds=25.0)
    parser.add_argument("--stacks", type=int, choices=(2, 3), default=2, help="how many spellings; 2 by default")
    parser.add_argument("--no-customary", action="store_true", help="leave the customary protocol out")
    given = parser.parse_args()
    print(f"{budget(given)}, {given.stacks} identical stacks")
    found = []
    with arena() as place:
        for number in range(given.races):
            raced = place.race(SPELLINGS[: given.stacks], budget=given.budget)
            standing = place.standing(raced)
            # odd races begin with the other one, so that neither has the same place every time
            pair = SPELLINGS[:2] if number % 2 == 0 else SPELLINGS[1::-1]
            runs = [] if given.no_customary else [customary(place, stack) for stack in pair]
            apart = math.log(fmean(runs[0]) / fmean(runs[1])) if len(runs) == 2 and all(runs) else None
            found.append(
                {
                    "race": number + 1,
                    "blocks": max((row.launches for row in standing.rows), default=0),
                    "order": any(row.rank[0] > 1 for row in standing.rows),
                    "settled": standing.settled,
                    "resolution": standing.resolution,
                    "elapsed_s": raced.elapsed_s,
                    "customary": None if apart is None else math.expm1(abs(apart)),
                    "t-test": significant(*runs) if len(runs) == 2 else None,
                }
            )
            table(f"race {number + 1} of {given.races}: {standing.answer}", found[-1:])
    judged = [one for one in found if one["blocks"] > 1]
    means = [one["customary"] for one in found if one["customary"] is not None]
    rows = [
        _row("a race: a false order", [bool(one["order"]) for one in judged]),
        _row(f"customary: means differ by more than {MATTERS:.0%}", [mean > MATTERS for mean in means]),
        _row("customary: t-test at 5 %", [bool(one["t-test"]) for one in found if one["t-test"] is not None]),
    ]
    table("false differences between identical stacks", rows)
    print(f"  {len(found) - len(judged)} races had a single block, which says nothing, and are left out above")
    write(given.json, {"summary": rows, "races": found})


def _row(name: str, wrong: list[bool]) -> dict[str, object]:
    low, high = interval(sum(wrong), len(wrong))
    share = f"{sum(wrong) / len(wrong):.1%}" if wrong else "–"
    return {"protocol": name, "of": len(wrong), "false": sum(wrong), "share": share,
            "95 % limits": f"{low:.1%}–{high:.1%}"}  # fmt: skip


if __name__ == "__main__":
    main()
