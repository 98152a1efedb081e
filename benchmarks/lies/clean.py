"""Clean races, in which every finding is a false alarm, unless it is true of the machine that hour.

A witness has looked at the machine by other means, over the whole race and around every slice: a finding that it
confirms is true.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from stackrace.base.verdict import Finding
from stackrace.race.results.race import Race
from stackrace.report.merged_standing import standing_of
from stackrace.report.words import findings as say

from .racing import liar, runs, slices
from .witness import Sight, Watched, witness

DISTURBANCES = frozenset(
    {
        "contention",
        "foreign CPU",
        "generator waited",
        "lag",
        "latency lumps",
        "major faults",
        "not steady",
        "retransmits",
        "steal",
        "dead time",
        "fairness",
    }
)
"""What others on the machine bring about; such a finding is true where the witness saw them."""

SEEN_FROM = 0.03
"""The share of the machine from which the witness believes that others disturbed a race."""

STOLEN_FROM = 0.01
"""The share of the machine's time that, stolen during a slice, disturbed it."""

FASTER_FROM = math.log(1.05)
"""How much the witness's own work must have changed its cost, the same way, to confirm a change of over 10 %."""

UNEVEN_BELOW = 0.85
"""Jain's index, explained by the connections of each process, that confirms one below 0.8."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A finding in a clean race; ``true`` when the witness saw what it is about."""

    where: str
    finding: Finding
    true: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """A clean race: how many slices, launches and races it has, every alarm, and what the witness saw."""

    name: str
    members: Mapping[str, int]
    alarms: tuple[Alarm, ...]
    others: float
    stolen: float
    sights: tuple[Sight, ...]

    def alarmed(self, kind: str) -> int:
        """Return how many slices, launches or races (``kind``) have a false alarm."""
        return len({alarm.where for alarm in self.alarms if not alarm.true and alarm.where.startswith(kind)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Clean:
    """A clean race to be run: honest stacks, in runs or in slices."""

    name: str
    stacks: tuple[str, ...]
    repeats: int | None = None
    budget_s: float = 0.0
    keep_alive: bool = True

    def run(self) -> Trial:
        """Race, watched by the witness."""
        sights: dict[float, Sight] = {}
        machine = partial(Watched, sights)
        with witness() as seen:
            if self.repeats is not None:
                race = runs(*self.stacks, repeats=self.repeats, keep_alive=self.keep_alive, machine=machine)
            else:
                race = slices(*self.stacks, budget_s=self.budget_s, keep_alive=self.keep_alive, machine=machine)
        alarms = tuple(_alarms(race, sights, seen["others"] + seen["stolen"] > SEEN_FROM))
        members = {
            "slice": sum(len(launch.slices) for launch in race.launches),
            "launch": len(race.launches),
            "race": 1,
        }
        return Trial(self.name, members, alarms, seen["others"], seen["stolen"], tuple(sights.values()))


def clean_races(quick: bool) -> Sequence[Clean]:
    """Return the clean races, one of them if it is to be quick."""
    honest = liar("truth"), liar("truth", workers=2)
    servers = "gunicorn:workers=2,class=gthread,threads=4", "waitress:threads=8"
    kept = Clean(name="two honest stacks, slices", stacks=honest, budget_s=30.0)
    if quick:
        return (kept,)
    return (
        kept,
        Clean(name="two honest stacks, runs", stacks=honest, repeats=4),
        Clean(name="gunicorn and waitress, slices", stacks=servers, budget_s=40.0),
        Clean(name="gunicorn and waitress, runs", stacks=servers, repeats=4),
        Clean(name="two honest stacks, no keep-alive", stacks=honest, repeats=3, keep_alive=False),
    )


def _alarms(race: Race, sights: Mapping[float, Sight], disturbed: bool) -> Iterator[Alarm]:
    def of(where: str, findings: Sequence[Finding], sight: Sight | None = None) -> Iterator[Alarm]:
        for finding in findings:
            whole = disturbed and say.title(finding) in DISTURBANCES
            yield Alarm(where, finding, whole or (sight is not None and confirmed(say.title(finding), sight)))

    for number, launch in enumerate(race.launches):
        yield from of(f"launch {number} of {launch.stack}", launch.verdict.findings)
        for slice_ in launch.slices:
            sight = sights[slice_.result.started_at]
            yield from of(f"slice {slice_.index} of {launch.stack}", slice_.verdict.findings, sight)
    yield from of("race", standing_of(race).verdict.findings)


def confirmed(check: str, sight: Sight) -> bool:
    """Tell whether the witness saw what a check says of a slice."""
    if check == "machine speed":
        return sight.claimed is not None and sight.speed * math.copysign(1, sight.claimed) > FASTER_FROM
    if check == "fairness" and sight.fairness < UNEVEN_BELOW:
        return True
    return check in DISTURBANCES and sight.stolen > STOLEN_FROM
