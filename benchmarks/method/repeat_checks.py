"""Does what a check only repeats bias an answer, or does it only add noise? Stacks are disturbed by known amounts.

    python -m benchmarks.method.repeat_checks                     2 races of 7 min of each kind: 75 minutes
    python -m benchmarks.method.repeat_checks --only stopped      one kind: 15 minutes
    python -m benchmarks.method.repeat_checks --races 0 --store sqlite:///FILE      only what was recorded

While a stack is under load, all of its processes and the engine are disturbed for 0.5 to 1.5 s, left alone for as
long, and so on by lot, in runs of 30 s. What the stack answers while it is disturbed, over what it answers right
afterwards, is the effect; each disturbance tells it once. Verdicts do not matter here. The kinds:

    stopped   both cores are taken for 5 ms of every 20 ms, as when the hypervisor runs others: check *steal*
    slowed    the same for 0.5 ms of every 2 ms, as a clock that is modulated: *machine speed*, *CPU frequency*,
              *overheated*
    capped    together they get 0.9 of a core, as on a virtual machine with a quota: *steal*
    memory    another program copies memory on the engine's core when that is idle, so that caches are shared as
              with other virtual machines: *machine speed*
    loop      another program computes on the stacks' core: *contention*, known to bias

A kind adds noise only if all stacks suffer alike: the limits of the difference of any two effects, 95 % for all
pairs, lie within 5 %, with every moment disturbed. It biases if some limits lie beyond 0 and are not within 5 %.

The races of a store show what the machine did by itself: how ln(throughput) follows the canary's speed and the
stolen share within launches, told at the limit from which the check repeats (25 %, 5 %). Both are measured with
errors, which make all slopes smaller alike.

Needs root: control groups, priorities. Nothing runs at a real-time priority.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean, stdev
from typing import Any

import numpy as np
import scipy

from stackrace.measure.host import Conditions
from stackrace.race.results.race import Race
from stackrace.stacks.stack import original_path
from stackrace.store import open_store

from ._disturbances import ENGINE_CORE, KINDS, PHASE_S, STACK_CORE, disturbing, grouped
from ._races import Arena, arena, kept, options, rounds, table, write

__all__ = [
    "KINDS",
    "Effect",
    "Seen",
    "changes",
    "changes_of",
    "effect_of",
    "judged",
    "seen_of",
    "slopes",
    "told",
    "unlike",
]

STACKS = ("gunicorn", "uwsgi", "apache+mod_wsgi")
MATTERS = math.log(1.05)
SPEED_LIMIT, STEAL_LIMIT = math.log(1.25), 0.05
RUN_S, WARMED_S, BIN_S = 30.0, 3.0, 0.1
LEAST_BINS = 2
LEAST = 10
"""With fewer slices, or changes, of a stack nothing is said."""

Phases = Sequence[tuple[float, float]]
"""From when to when all were disturbed, in seconds on CLOCK_MONOTONIC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One recorded slice: its ``stack`` and launch, ln(throughput), and what the machine did meanwhile.

    ``slower`` is ln of the canary's nanoseconds before and after it, their mean; ``stolen`` the share of the
    stacks' cores; None where nobody watched.
    """

    stack: str
    launch: str
    value: float
    slower: float | None = None
    stolen: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """By how much a full disturbance changes ln(throughput) of a stack, with standard error and its df."""

    change: float
    error: float
    df: int


def changes(answers: Sequence[tuple[float, int]], phases: Phases) -> list[float]:
    """Return ln(answers while disturbed over answers right afterwards) of each phase that was seen whole.

    ``answers`` are the beginnings, on the clock of ``phases``, and the right answers of bins of ``BIN_S``. What is
    compared follows at once, so that slower changes of the machine cancel.
    """
    found = []
    for (begin, end), (until, _) in pairwise((*phases, (math.inf, math.inf))):
        during = [many for at, many in answers if begin <= at and at + BIN_S <= end]
        after = [many for at, many in answers if end <= at and at + BIN_S <= min(until, end + PHASE_S[1])]
        if len(during) >= LEAST_BINS and len(after) >= LEAST_BINS and sum(during) and sum(after):
            found.append(math.log(fmean(during) / fmean(after)))
    return found


def changes_of(race: Race, phases: Phases) -> dict[str, list[float]]:
    """Return the changes that each stack saw in its runs, their beginnings left out."""
    found: dict[str, list[float]] = {}
    for launch in race.launches:
        for one in launch.slices:
            answers = [
                (one.result.started_at + each.start_s, each.ok)
                for each in one.result.series
                if each.start_s >= WARMED_S
            ]
            found.setdefault(launch.stack, []).extend(changes(answers, phases))
    return found


def effect_of(found: Sequence[float]) -> Effect:
    """Return the mean of many changes."""
    return Effect(change=fmean(found), error=stdev(found) / math.sqrt(len(found)), df=len(found) - 1)


def seen_of(race: Race) -> list[Seen]:
    """Return all slices at the race's last level with right answers, valid or not; a twin's are its stack's."""
    return [
        Seen(
            stack=original_path(launch.stack),
            launch=launch.id,
            value=math.log(one.result.throughput_per_s),
            slower=one.conditions and _slower(one.conditions),
            stolen=one.conditions and one.conditions.stolen_s / (one.conditions.elapsed_s * one.conditions.cores),
        )
        for launch in race.launches
        for one in launch.slices
        if one.load.concurrency == race.loads[-1].concurrency and one.result.throughput_per_s > 0
    ]


def _slower(where: Conditions) -> float | None:
    if where.canary_before_ns is None or where.canary_after_ns is None:
        return None
    return (math.log(where.canary_before_ns) + math.log(where.canary_after_ns)) / 2


def slopes(slices: Sequence[Seen], amount: Callable[[Seen], float | None]) -> dict[str, Effect]:
    """Return each stack's slope of ln(throughput) on ``amount``, by least squares within launches.

    A stack with too few slices, or whose amount never changes within a launch, has none. Source: Cochran 1957,
    Analysis of covariance: its nature and uses, Biometrics 13.
    """
    by_launch: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for one in slices:
        if (x := amount(one)) is not None:
            by_launch.setdefault((one.stack, one.launch), []).append((x, one.value))
    found = {}
    for stack in dict.fromkeys(stack for stack, _ in by_launch):
        own = [np.array(points) for (each, _), points in by_launch.items() if each == stack and len(points) > 1]
        x, y = np.concatenate([points - points.mean(axis=0) for points in own] or [np.empty((0, 2))]).T
        df, spread = len(x) - len(own) - 1, float(x @ x)
        if len(x) < LEAST or df < 1 or spread < 1e-9:
            continue
        change = float(x @ y) / spread
        error = math.sqrt(float(((y - change * x) ** 2).sum()) / df / spread)
        found[stack] = Effect(change=change, error=error, df=df)
    return found


def unlike(found: Mapping[str, Effect]) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Return of each pair how much less the first suffers, with limits that hold for all pairs at once (95 %).

    In ln units. Source: Welch 1947, Biometrika 34; Bonferroni.
    """
    pairs = list(combinations(found, 2))
    differences = {}
    for one, other in pairs:
        a, b = found[one], found[other]
        variance = a.error**2 + b.error**2
        df = variance**2 / (a.error**4 / a.df + b.error**4 / b.df) if variance else 1.0
        half = float(scipy.stats.t.ppf(1 - 0.025 / len(pairs), df)) * math.sqrt(variance)
        middle = a.change - b.change
        differences[one, other] = (middle, middle - half, middle + half)
    return differences


def told(found: Mapping[str, Effect]) -> str:
    """Return "noise" where all stacks suffer alike, "bias" where some surely do not, else "open"."""
    limits = [(low, high) for _, low, high in unlike(found).values()]
    if not limits:
        return "open"
    if all(low >= -MATTERS and high <= MATTERS for low, high in limits):
        return "noise"
    return "bias" if any(low > 0 or high < 0 for low, high in limits) else "open"


def judged(rows: Sequence[Mapping[str, Any]], recorded: Sequence[Seen] = ()) -> list[dict[str, Any]]:
    """Return a line for each kind, and two for what machines did by themselves."""
    lines = []
    for kind in KINDS:
        found: dict[str, list[float]] = {}
        for row in rows:
            if row["kind"] == kind:
                for stack, some in row["changes"].items():
                    found.setdefault(stack, []).extend(some)
        if found:
            enough = {stack: effect_of(some) for stack, some in found.items() if len(some) >= LEAST}
            lines.append(_line(kind, sum(map(len, found.values())), enough))
    if recorded:
        for name, amount in (
            ("canary, at 25 %", lambda one: None if one.slower is None else one.slower / SPEED_LIMIT),
            ("stolen, at 5 %", lambda one: None if one.stolen is None else one.stolen / STEAL_LIMIT),
        ):
            lines.append(_line(name, sum(amount(one) is not None for one in recorded), slopes(recorded, amount)))
    return lines


def _line(name: str, many: int, found: Mapping[str, Effect]) -> dict[str, Any]:
    differences = unlike(found)
    most = max(differences, key=lambda pair: abs(differences[pair][0]), default=None)
    low, high = (None, None) if most is None else (math.expm1(one) for one in differences[most][1:])
    return {
        "disturbed": name,
        "seen": many,
        **{stack: math.expm1(found[stack].change) if stack in found else None for stack in STACKS},
        "most unlike": "–" if most is None else f"{most[0]} : {most[1]}",
        "low": low,
        "high": high,
        "so": told(found),
    }


def main() -> None:
    """Race under each disturbance in turns, and print what all races so far say."""
    parser = options("repeat_checks", __doc__ or "", races=2, seconds=400.0)
    parser.add_argument("--only", choices=KINDS, action="append", help="this disturbance, again for more")
    parser.add_argument("--store", action="append", default=[], metavar="URL", help="races recorded there, too")
    given = parser.parse_args()
    kinds = given.only or list(KINDS)
    seen = kept(given)
    recorded = [one for url in given.store for one in _recorded(url)]
    if given.races:
        with arena() as place, grouped() as group:
            place.before = group.entering
            for number in rounds(given, len(kinds)):
                for kind in kinds:
                    with disturbing(group, kind) as phases:
                        raced = _raced(place, given.budget)
                    if raced is not None:
                        seen.add({"kind": kind, "changes": changes_of(raced, phases)})
                table(f"after {number} of {given.races}", judged(seen.rows))
                write(given.json, judged(seen.rows, recorded))
    table("the effect on throughput, and the limits of the most unlike pair", judged(seen.rows, recorded))


def _raced(place: Arena, budget_s: float) -> Race | None:
    """Make as many cold runs of each stack as take about the budget."""
    return place.race(
        STACKS, concurrency=(100,), app={"bundled": "django"}, load={"duration": RUN_S},
        repeats=max(round(budget_s / len(STACKS) / (RUN_S + 4)), 1),
        cores=str(STACK_CORE), engine_cores=str(ENGINE_CORE), priority=False,
    )  # fmt: skip


def _recorded(url: str) -> Iterator[Seen]:
    with open_store(url) as store:
        for summary in store.list(1000):
            yield from seen_of(store.load(summary.id))


if __name__ == "__main__":
    main()
