"""Identical stacks against each other: how often does a race call a difference where there is none?

    python -m benchmarks.method.aa_races --races 30 --budget 90

The stacks are one gunicorn under two names: they differ in a setting that changes nothing. Beside each race the
customary protocol measures both: one server after the other, three runs of four seconds each, and the means are
compared. A false order of a race is one of its own statements, "beats"; of the customary protocol it is a
difference of means above the difference that matters (5 %), and, stricter, Student's t-test at 5 %.

What a race says of identical stacks is false if it puts any of them into a lower tier, or calls one the best; that
one is "the best, or within 5 % of it" is true. A race that does not trust itself is void, which is no order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median, variance

from stackrace.race.results.answer import AnswerKind
from stackrace.race.results.standing import Standing
from stackrace.report.merged_standing import standing_of

from ._races import Arena, arena, kept, options, outcome, outcomes, rounds, stolen, table, write
from .shares import interval
from .slowed import installed, stack

COPIES = stack(0), stack(0, copy=1)
RUNS = 3
RUN_S = 4
MATTERS = 0.05
T_95 = 2.776
"""Student's quantile for twice three runs: four degrees of freedom."""

CUSTOMARY_S = 2 * RUNS * (RUN_S + 3)
"""About what the customary protocol takes, starts and stops included."""


def customary(place: Arena, path: str, servers: str) -> list[float]:
    """Return the throughput of three runs of one stack, made in one go; nothing where one of them failed."""
    raced = place.race([path], load={"duration": f"{RUN_S}s"}, repeats=RUNS, servers=servers)
    runs = [one.result.throughput_per_s for launch in raced.launches for one in launch.slices] if raced else []
    return runs if len(runs) == RUNS and min(runs) > 0 else []


def significant(one: Sequence[float], other: Sequence[float]) -> bool:
    """Tell whether Student's unpaired t-test calls two sets of three runs different at 5 %."""
    pooled = (variance(one) + variance(other)) / 2
    return abs(fmean(one) - fmean(other)) > T_95 * math.sqrt(2 * pooled / RUNS)


def one_race(place: Arena, servers: str, seconds: float) -> dict[str, object]:
    """Race identical stacks and say what came of it."""
    raced = place.race(COPIES, budget=seconds, servers=servers)
    standing = None if raced is None else standing_of(raced)
    came = outcome(raced, standing)
    rows = standing.rows if standing else ()
    return {
        "outcome": came,
        "blocks": max((row.launches for row in rows), default=0),
        "order": came == "measured" and (_best(standing) or any(row.rank[0] > 1 for row in rows)),
        "result": standing.answer.kind.value if standing else None,
        "settled": standing is not None and standing.settled,
        "resolution": standing.resolution if standing else None,
        "elapsed s": raced.elapsed_s if raced else None,
    }


def _best(standing: Standing | None) -> bool:
    return standing is not None and standing.answer.kind is AnswerKind.BEST


def compared(runs: Sequence[Sequence[float]]) -> dict[str, object]:
    """Return what the customary protocol makes of its runs of two stacks, nothing where it has none."""
    if len(runs) < 2 or not all(runs):
        return {"customary": None, "t-test": None}
    apart = abs(math.log(fmean(runs[0]) / fmean(runs[1])))
    return {"customary": math.expm1(apart), "t-test": significant(*runs)}


def main() -> None:
    """Run the races and print how often each protocol was wrong."""
    parser = options("aa_races", __doc__ or "", races=30, seconds=90.0)
    parser.add_argument("--no-customary", action="store_true", help="leave the customary protocol out")
    given = parser.parse_args()
    seen = kept(given)
    found = seen.rows
    with arena() as place:
        servers = installed(place.folder)
        for number in rounds(given, beside_s=0 if given.no_customary else CUSTOMARY_S):
            with stolen() as share:
                raced = one_race(place, servers, given.budget)
            # every other time the other one comes first, so that neither has the same place always
            pair = COPIES if number % 2 else COPIES[::-1]
            runs = [] if given.no_customary else [customary(place, path, servers) for path in pair]
            seen.add({"stacks": len(COPIES), "stolen": share(), **raced, **compared(runs)})
            table(f"race {number} of {given.races}", found[-1:])
            summary = summed(found)
            table(f"false differences between identical stacks, {len(found)} races of all runs", summary)
            write(given.json, {"outcomes": outcomes(found), "summary": summary, "races": found})
            print(f"  {_told(found)}", flush=True)


def summed(found: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return how often each protocol was wrong; races that are not measured, or of a single block, say nothing."""
    judged = [one for one in found if one["outcome"] == "measured" and int(str(one["blocks"])) > 1]
    means = [float(str(one["customary"])) for one in found if one["customary"] is not None]
    return [
        _row("a race: a false order", [bool(one["order"]) for one in judged]),
        _row(f"customary: means differ by more than {MATTERS:.0%}", [mean > MATTERS for mean in means]),
        _row("customary: t-test at 5 %", [bool(one["t-test"]) for one in found if one["t-test"] is not None]),
    ]


def _told(found: Sequence[Mapping[str, object]]) -> str:
    """Say what came of the races, and how much they could have seen."""
    came = ", ".join(f"{many} {name}" for name, many in outcomes(found).items())
    blocks = median(int(str(one["blocks"])) for one in found)
    finest = [float(str(one["resolution"])) for one in found if one["resolution"] is not None]
    return f"{came}; in the median {blocks:g} blocks" + (
        f" and a resolution of {median(finest):.1%}" if finest else ""
    )


def _row(name: str, wrong: list[bool]) -> dict[str, object]:
    low, high = interval(sum(wrong), len(wrong))
    share = f"{sum(wrong) / len(wrong):.1%}" if wrong else "–"
    return {"protocol": name, "of": len(wrong), "false": sum(wrong), "share": share,
            "95 % limits": f"{low:.1%}–{high:.1%}"}  # fmt: skip


if __name__ == "__main__":
    main()
