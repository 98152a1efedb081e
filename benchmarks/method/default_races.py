"""The default race, again and again: does it answer, is the answer always the same, and do its limits hold?

    python -m benchmarks.method.default_races --races 10

Each race is what `stackrace run` races in an empty folder: the bundled Django app on the most used stacks,
three minutes at most. Of all races of all runs:

- how many have an answer (best, good choice, alike), and how long it took;
- whether two answers contradict each other: one calls a stack the best, or within 5 % of it, and the other proves
  another stack more than 5 % better than that one;
- how wide the limits of a ratio are (half-width in ln units, the median over rows), over the standard deviation of
  the same ratio from race to race: 2 if limits told just that; and how many limits hold the mean of the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, median, stdev
from typing import Any

from stackrace.race.results.race import Race
from stackrace.report.merged_standing import standing_of
from stackrace.report.words.standing_sentences import words_of

from ._races import arena, kept, options, outcome, outcomes, rounds, stolen, table, write
from .shares import interval

BUDGET_S = 180.0
ANSWERS = ("best", "good choice", "alike")
LEAST_RACES = 3
"""With fewer there is nothing to compare a row with."""


def described(raced: Race | None) -> dict[str, Any]:
    """Return what came of a race: its answer, and each stack's ratio to a common one with its limits, in ln
    units."""
    standing = None if raced is None else standing_of(raced)
    came = outcome(raced, standing)
    if raced is None or standing is None:
        return {"outcome": came}
    rows = {row.stack: row for row in standing.rows}
    result = standing.answer
    return {
        "outcome": came,
        "result": result.kind.value,
        "stacks": list(result.stacks),
        "within": result.within,
        "answer": words_of(raced, standing).answer,
        "elapsed s": raced.elapsed_s,
        "launches": len(raced.launches),
        "blocks": len({one.block for one in raced.launches}),
        "difference": raced.difference,
        "rows": {
            stack: [row.ratio.value, row.ratio.low, row.ratio.high, row.launches] for stack, row in rows.items()
        },
        "leader": standing.rows[0].stack if standing.rows else None,
    }


def contradictions(rows: Sequence[Mapping[str, Any]]) -> int:
    """Count pairs of answers that cannot both be true."""
    answers = [row for row in rows if row.get("result") in ANSWERS and row["outcome"] == "measured"]
    return sum(_denies(one, other) or _denies(other, one) for one, other in combinations(answers, 2))


def _denies(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether ``one`` proves its first stack more than the difference better than what ``other`` named."""
    first, named = one["stacks"][0], other["stacks"][0]
    if first == named or named not in one["rows"]:
        return False
    high = one["rows"][named][2]
    return one["result"] == "best" and high is not None and high < 1 / (1 + one["difference"])


def repeats(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each stack how its ratio to the usual leader varies, how wide its limits were, and what they
    held."""
    measured = [row for row in rows if row["outcome"] == "measured"]
    usual = max({row["leader"] for row in measured}, key=[row["leader"] for row in measured].count, default=None)
    same = [row for row in measured if row["leader"] == usual]
    found = []
    for stack in dict.fromkeys(stack for row in same for stack in row["rows"] if stack != usual):
        own = [row["rows"][stack] for row in same if stack in row["rows"]]
        logs = [math.log(value) for value, *_ in own]
        if len(own) < LEAST_RACES:
            continue
        half = [(math.log(high) - math.log(low)) / 2 for _, low, high, _ in own if low and high]
        held = [
            math.log(low) <= fmean([*logs[:at], *logs[at + 1 :]]) <= math.log(high)
            for at, (_, low, high, _) in enumerate(own)
            if low and high
        ]
        widths = {"sd": stdev(logs), "half-width": median(half) if half else None}
        ratio = {"stack": stack, "races": len(own), "ratio": math.exp(fmean(logs))}
        found.append({**ratio, **widths, "held": sum(held), "of": len(held)})
    return found


def main() -> None:
    """Run the races and print what they say together."""
    parser = options("default_races", __doc__ or "", races=10, seconds=BUDGET_S)
    given = parser.parse_args()
    seen = kept(given)
    with arena() as place:
        for number in rounds(given):
            with stolen() as share:
                row = described(place.default())
            seen.add({"stolen": share(), **row})
            print(f"race {number}, {seen.rows[-1]['stolen']:.1%} stolen: {row.get('answer')}")
            show(seen.rows)
            write(given.json, {"outcomes": outcomes(seen.rows), "ratios": repeats(seen.rows), "races": seen.rows})


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what all races say together."""
    measured = [row for row in rows if row["outcome"] == "measured"]
    answered = [row for row in measured if row["result"] in ANSWERS]
    low, high = interval(len(answered), len(measured))
    print(f"{len(answered)} of {len(measured)} measured races answer ({low:.0%}–{high:.0%}), "
          f"{contradictions(rows)} pairs contradict each other; {outcomes(rows)}")  # fmt: skip
    if answered:
        print(f"an answer took {median(row['elapsed s'] for row in answered):.0f} s in the median")
    if found := repeats(rows):
        table("ratios to the usual leader, from race to race", found)
        widths = [row["half-width"] / row["sd"] for row in found if row["half-width"] and row["sd"]]
        held, of = (sum(row[name] for row in found) for name in ("held", "of"))
        print(f"limits are {median(widths):.1f} × what a ratio varies by, in the median; "
              f"{held} of {of} hold the mean of the other races")  # fmt: skip


if __name__ == "__main__":
    main()
