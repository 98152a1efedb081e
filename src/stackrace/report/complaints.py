"""What the checks complained about, grouped by check: of slices, of launches, of the race as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..base.numbers import count
from ..base.verdict import Effect, Finding, Verdict
from ..race.results.race import Race
from ..race.results.standing import Standing
from ..race.resume import counted
from ..stacks.stack import original_path
from .words.findings import check_title, remedy, seen, threshold, title
from .words.race_words import of

__all__ = ["Complaint", "Trial", "complaints", "refused"]

_SEVERITY = (Effect.INVALIDATES, Effect.REDOES, Effect.WARNS)
_DONE = {
    Effect.INVALIDATES: "refused",
    Effect.REDOES: "redone",
    Effect.WARNS: "warned about",
}
_MOST_STACKS = 4
"""So many stacks are named within a sentence, those with the most complaints."""


class Trial(StrEnum):
    """What a check looked at; the value is its name in reports."""

    RACE = "race"
    LAUNCH = "launch"
    SLICE = "slice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One check's findings of one effect: how often, where, and the first of them in words."""

    check: str
    """By title."""
    effect: Effect
    count: int
    """How many findings."""
    trial: Trial = Trial.SLICE
    whole: int = 0
    """How many trials of that kind the race had; 0 where that is not known."""
    by_stack: tuple[tuple[str, int], ...] = ()
    """Findings by stack, the most frequent first; none of a complaint about the race."""
    seen: str = ""
    """What was measured."""
    threshold: str = ""
    """What should have been."""
    remedy: str = ""
    """The way out."""

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks complained about, the one with the most findings first."""
        return tuple(stack for stack, _ in self.by_stack)

    @property
    def headline(self) -> str:
        """``3 of 120 slices refused``: how often, and what it did."""
        if self.trial is Trial.RACE:
            return "the race is warned about" if self.effect is Effect.WARNS else "makes the race void"
        if self.whole > self.count:
            return f"{count(self.count)} of {of(self.whole, self.trial)} {_DONE[self.effect]}"
        return f"{of(self.count, self.trial)} {_DONE[self.effect]}"

    @property
    def where(self) -> str:
        """``gunicorn (3), uwsgi (1)``: the stacks with the most findings; empty for the race as a whole."""
        return _listed(self.by_stack)


def complaints(race: Race, standing: Standing) -> tuple[Complaint, ...]:
    """Return all complaints: about the race, then about launches and slices, the gravest first.

    Warnings that only the standing counts, when no slice of the race carries them, are told too.
    Launches that an interruption cut short count nowhere.
    """
    race = counted(race)
    trials = {Trial.LAUNCH: len(race.launches), Trial.SLICE: sum(len(launch.slices) for launch in race.launches)}
    groups: dict[tuple[Trial, str, Effect], list[tuple[str, Finding]]] = {}
    for trial, stack, verdict in _verdicts(race, standing):
        for finding in verdict.findings:
            groups.setdefault((trial, title(finding), finding.effect), []).append((stack, finding))
    grouped = [_complaint(key[0], pairs, trials.get(key[0], 0)) for key, pairs in groups.items()]
    silent = [
        Complaint(check=check_title(check), effect=Effect.WARNS, count=times)
        for check, times in standing.warnings.items()
        if times and not any(name == check_title(check) for _, name, _ in groups)
    ]
    return tuple(sorted(grouped + silent, key=_gravity))


def refused(race: Race) -> str:
    """Say how many launches and slices were kept out of the statistics, by which checks, on which stacks."""
    whole = counted(race).launches
    launches = [(original_path(launch.stack), launch.verdict) for launch in whole]
    slices = [(original_path(launch.stack), each.verdict) for launch in whole for each in launch.slices]
    sentences = [_refused(Trial.LAUNCH, launches, "refused"), _refused(Trial.SLICE, slices, "refused or redone")]
    return " ".join(sentence for sentence in sentences if sentence)


def _refused(trial: Trial, trials: Sequence[tuple[str, Verdict]], done: str) -> str:
    bad = [(stack, verdict) for stack, verdict in trials if not verdict.valid]
    if not bad:
        return ""
    checks = Counter(
        check
        for _, verdict in bad
        for check in dict.fromkeys(
            title(finding) for finding in verdict.findings if finding.effect is not Effect.WARNS
        )
    )
    by = ", ".join(f"{count(times)} by {check}" for check, times in checks.most_common())
    stacks = _listed(Counter(stack for stack, _ in bad).most_common())
    were = "was" if len(bad) == 1 else "were"
    return f"{count(len(bad))} of {of(len(trials), trial)} {were} {done}: {by}; on {stacks}."


def _verdicts(race: Race, standing: Standing) -> Iterable[tuple[Trial, str, Verdict]]:
    yield Trial.RACE, "", standing.verdict
    for launch in race.launches:
        stack = original_path(launch.stack)
        yield Trial.LAUNCH, stack, launch.verdict
        for slice_ in launch.slices:
            yield Trial.SLICE, stack, slice_.verdict


def _complaint(trial: Trial, pairs: list[tuple[str, Finding]], whole: int) -> Complaint:
    first = pairs[0][1]
    return Complaint(
        check=title(first), effect=first.effect, count=len(pairs), trial=trial, whole=whole,
        by_stack=tuple(Counter(stack for stack, _ in pairs if stack).most_common()),
        seen=seen(first), threshold=threshold(first), remedy=remedy(first),
    )  # fmt: skip


def _gravity(complaint: Complaint) -> tuple[int, int, int, str]:
    return _SEVERITY.index(complaint.effect), list(Trial).index(complaint.trial), -complaint.count, complaint.check


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    pairs = list(counts)
    if len(pairs) == 1:
        return pairs[0][0]
    listed = [f"{stack} ({count(times)})" for stack, times in pairs[:_MOST_STACKS]]
    if len(pairs) > _MOST_STACKS:
        listed.append(f"{of(len(pairs) - _MOST_STACKS, 'more stack')}")
    return ", ".join(listed)
