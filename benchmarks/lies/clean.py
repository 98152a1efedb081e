"""Clean races, in which every finding is a false alarm, unless it is true of the machine that hour.

Whether others took cores is known from an independent reading: a witness takes what was neither idle nor ours, and
the time stolen, over the whole race.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stackrace.model.race import Race
from stackrace.model.verdict import Finding
from stackrace.report.result import standing_of

from .racing import liar, runs, slices

__all__ = ["Alarm", "Clean", "Trial", "clean_races"]

DISTURBANCES = frozenset(
    {
        "pressure",
        "foreign CPU",
        "generator waited",
        "lag",
        "latency lumps",
        "machine speed",
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


@dataclass(frozen=True, slots=True)
class Alarm:
    """A finding in a clean race; ``true`` when the witness saw what it is about."""

    where: str
    finding: Finding
    true: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """A clean race: how many slices, launches and races it has, and every alarm, with the witness's share."""

    name: str
    members: Mapping[str, int]
    alarms: tuple[Alarm, ...]
    others: float
    stolen: float

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
        with _witness() as seen:
            if self.repeats is not None:
                race = runs(*self.stacks, repeats=self.repeats, keep_alive=self.keep_alive)
            else:
                race = slices(*self.stacks, budget_s=self.budget_s, keep_alive=self.keep_alive)
        alarms = tuple(_alarms(race, seen["others"] + seen["stolen"] > SEEN_FROM))
        members = {
            "slice": sum(len(launch.slices) for launch in race.launches),
            "launch": len(race.launches),
            "race": 1,
        }
        return Trial(self.name, members, alarms, seen["others"], seen["stolen"])


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


def _alarms(race: Race, disturbed: bool) -> Iterator[Alarm]:
    def of(where: str, findings: Sequence[Finding]) -> Iterator[Alarm]:
        for finding in findings:
            yield Alarm(where, finding, disturbed and finding.check in DISTURBANCES)

    for number, launch in enumerate(race.launches):
        yield from of(f"launch {number} of {launch.stack}", launch.verdict.findings)
        for slice_ in launch.slices:
            yield from of(f"slice {slice_.index} of {launch.stack}", slice_.verdict.findings)
    yield from of("race", standing_of(race).verdict.findings)


@contextmanager
def _witness() -> Iterator[dict[str, float]]:
    """Yield a table that holds, once the block is over, the shares of the machine that went to others.

    What was neither idle nor spent by us and by the children that we waited for, the whole race among them, was
    spent by others. Source: proc_stat(5); times(2).
    """
    seen: dict[str, float] = {}
    busy, steal, whole = _machine_s()
    ours = sum(os.times()[:4])
    yield seen
    busy_after, steal_after, whole_after = _machine_s()
    capacity = max(whole_after - whole, 1e-9)
    seen["others"] = max(0.0, busy_after - busy - (sum(os.times()[:4]) - ours)) / capacity
    seen["stolen"] = (steal_after - steal) / capacity


def _machine_s() -> tuple[float, float, float]:
    """Return the seconds in processes, the seconds stolen, and all seconds of all cores."""
    first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    user, nice, system, idle, wait, irq, soft, steal = (
        int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in first.split()[1:9]
    )
    return user + nice + system, steal, user + nice + system + idle + wait + irq + soft + steal
