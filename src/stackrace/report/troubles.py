"""Failed launches and complaints of checks, in full, and by cause for one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..base.numbers import count
from ..base.verdict import Effect, Finding, Verdict
from ..measure.launch import Failure, FailureKind
from ..race.results.race import Race
from ..race.results.standing import Gap, Standing
from ..race.run.resume import counted
from ..stacks.stack import original_path
from ..validity.declaration import Cause
from ..validity.registry import DECLARATIONS
from ..validity.stack_work import debug_on
from .figures import listed
from .sheet import Item, Tone
from .words.findings import check_title, failure_kind, failure_message, remedy, seen, threshold, title
from .words.race_words import left_out, of

_SEVERITY = (Effect.INVALIDATES, Effect.REDOES, Effect.WARNS)
_DONE = {
    Effect.INVALIDATES: "refused",
    Effect.REDOES: "redone",
    Effect.WARNS: "warned about",
}
_MOST_STACKS = 4


class _Trial(StrEnum):
    """Object of a check; the value is its name in reports."""

    RACE = "race"
    LAUNCH = "launch"
    SLICE = "slice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One check's findings of one effect: their number, their stacks, and the first of them in words."""

    check: str
    """Title of the check."""
    effect: Effect
    count: int
    """Number of findings."""
    trial: _Trial
    whole: int
    """Number of trials of that kind in the race."""
    by_stack: tuple[tuple[str, int], ...]
    """Findings by stack, the most frequent first; empty for a complaint about the race."""
    seen: str
    """Measured value in words."""
    threshold: str
    """Limit in words."""
    remedy: str
    """Way out."""

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks complained about, the one with the most findings first."""
        return tuple(stack for stack, _ in self.by_stack)

    @property
    def headline(self) -> str:
        """Number and effect: ``3 of 120 slices refused``."""
        if self.trial is _Trial.RACE:
            return "the race is warned about" if self.effect is Effect.WARNS else "makes the race void"
        if self.whole > self.count:
            return f"{count(self.count)} of {of(self.whole, self.trial)} {_DONE[self.effect]}"
        return f"{of(self.count, self.trial)} {_DONE[self.effect]}"

    @property
    def where(self) -> str:
        """``gunicorn (3), uwsgi (1)``: the stacks with the most findings; empty for the race as a whole."""
        return _counts_list(self.by_stack)

    @property
    def item(self) -> Item:
        """Entry of a list."""
        where = f" on {self.where}" if self.where else ""
        limit = f" ({self.seen}; threshold: {self.threshold})" if self.seen else ""
        text = f"{self.headline}{where}{limit}"
        return Item(lead=self.check, tone=_TONES[self.effect], remedy=self.remedy, text=text)


def complaints(race: Race, standing: Standing) -> tuple[Complaint, ...]:
    """Return all complaints: about the race, then about launches and slices, the most serious first.

    Launches that an interruption cut short count nowhere.
    """
    race = counted(race)
    trials = {_Trial.LAUNCH: len(race.launches), _Trial.SLICE: sum(len(launch.slices) for launch in race.launches)}
    groups: dict[tuple[_Trial, str, Effect], list[tuple[str, Finding]]] = {}
    for trial, stack, verdict in _verdicts(race, standing):
        for finding in verdict.findings:
            groups.setdefault((trial, title(finding), finding.effect), []).append((stack, finding))
    found = [_complaint(key[0], pairs, trials.get(key[0], 0)) for key, pairs in groups.items()]
    return tuple(sorted(found, key=_sort_key))


def refused(race: Race) -> str:
    """Return the sentences about launches and slices kept out of the statistics, with their checks and stacks."""
    whole = counted(race).launches
    launches = [(original_path(launch.stack), launch.verdict) for launch in whole]
    slices = [(original_path(launch.stack), each.verdict) for launch in whole for each in launch.slices]
    sentences = [
        _rejected_note(_Trial.LAUNCH, launches, "refused"),
        _rejected_note(_Trial.SLICE, slices, "refused or redone"),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _rejected_note(trial: _Trial, trials: Sequence[tuple[str, Verdict]], done: str) -> str:
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
    stacks = _counts_list(Counter(stack for stack, _ in bad).most_common())
    were = "was" if len(bad) == 1 else "were"
    return f"{count(len(bad))} of {of(len(trials), trial)} {were} {done}: {by}; on {stacks}."


def _verdicts(race: Race, standing: Standing) -> Iterable[tuple[_Trial, str, Verdict]]:
    yield _Trial.RACE, "", standing.verdict
    for launch in race.launches:
        stack = original_path(launch.stack)
        yield _Trial.LAUNCH, stack, launch.verdict
        for slice_ in launch.slices:
            yield _Trial.SLICE, stack, slice_.verdict


def _complaint(trial: _Trial, pairs: list[tuple[str, Finding]], whole: int) -> Complaint:
    first = pairs[0][1]
    return Complaint(
        check=title(first), effect=first.effect, count=len(pairs), trial=trial, whole=whole,
        by_stack=tuple(Counter(stack for stack, _ in pairs if stack).most_common()),
        seen=seen(first), threshold=threshold(first), remedy=remedy(first),
    )  # fmt: skip


def _sort_key(complaint: Complaint) -> tuple[int, int, int, str]:
    return _SEVERITY.index(complaint.effect), list(_Trial).index(complaint.trial), -complaint.count, complaint.check


def _counts_list(counts: Iterable[tuple[str, int]]) -> str:
    pairs = list(counts)
    if len(pairs) == 1:
        return pairs[0][0]
    listed = [f"{stack} ({count(times)})" for stack, times in pairs[:_MOST_STACKS]]
    if len(pairs) > _MOST_STACKS:
        listed.append(f"{of(len(pairs) - _MOST_STACKS, 'more stack')}")
    return ", ".join(listed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """One stack's failures of one cause. ``launches`` counts them; ``withdrawn``: the stack has no place."""

    stack: str
    failure: Failure
    launches: int
    withdrawn: bool

    @property
    def message(self) -> str:
        """Details in words; empty if the kind of failure says it all."""
        return failure_message(self.failure)

    @property
    def item(self) -> Item:
        """Entry of a list, with the last lines of the log."""
        often = f" ({self.launches} launches)" if self.launches > 1 else ""
        withdrawn = " (no place in the standing)" if self.withdrawn else ""
        text = f"{failure_kind(self.failure)}{often}: {self.message}{withdrawn}"
        return Item(lead=self.stack, is_code=True, tone=Tone.WRONG, log=self.failure.log, text=text)


def setbacks(race: Race, standing: Standing) -> tuple[Setback, ...]:
    """Return all setbacks: withdrawn stacks first, each with the last message and log.

    The deaths of a stack are one setback, as the last lines of their logs have times and process ids.
    """
    withdrawn = {withdrawal.stack for withdrawal in standing.withdrawals}
    groups: dict[tuple[str, FailureKind, str], list[Failure]] = {}
    for launch in race.launches:
        if launch.failure is not None and not launch.cut_short:
            kind = launch.failure.kind
            message = "" if kind is FailureKind.DIED else failure_message(launch.failure)
            groups.setdefault((original_path(launch.stack), kind, message), []).append(launch.failure)
    for withdrawal in standing.withdrawals:
        failure = withdrawal.failure
        if not any(stack == withdrawal.stack and how is failure.kind for stack, how, _ in groups):
            groups[withdrawal.stack, failure.kind, failure_message(failure)] = [failure]
    grouped = [
        Setback(stack=stack, failure=failures[-1], launches=len(failures), withdrawn=stack in withdrawn)
        for (stack, _, _), failures in groups.items()
    ]
    return tuple(sorted(grouped, key=lambda setback: not setback.withdrawn))


_TONES = {Effect.INVALIDATES: Tone.WRONG, Effect.REDOES: Tone.REDONE, Effect.WARNS: Tone.DOUBTFUL}
_CAUSES = {each.title: each.cause for each in DECLARATIONS.values() if each.cause is not None}
_GRAVE = {Effect.INVALIDATES: 1, Effect.REDOES: 2, Effect.WARNS: 4}
_ELSEWHERE = check_title(debug_on.declaration.id)
"""Check that is reported for the whole race, and not here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    grave: int
    """Rank of the cause; smaller numbers come first."""
    item: Item


def causes(race: Race, standing: Standing, names: Mapping[str, str]) -> tuple[Item, ...]:
    """Return an item for each cause; ``names`` are the short names of stacks that have one."""
    found = [*_failures(race, standing, names), *_complaints(race, standing, names)]
    found += _gaps(standing, names)
    if absent := left_out(race):
        found.append(_Cause(grave=3, item=Item(text=absent)))
    return tuple(cause.item for cause in sorted(found, key=lambda cause: cause.grave))


def _failures(race: Race, standing: Standing, names: Mapping[str, str]) -> Iterator[_Cause]:
    """Yield the failures of stacks, grouped by cause; rejections by a check are reported with the check."""
    groups: dict[tuple[str, str], list[Setback]] = {}
    for setback in setbacks(race, standing):
        if setback.failure.kind is not FailureKind.REFUSED or setback.failure.finding is None:
            groups.setdefault((failure_kind(setback.failure), setback.message), []).append(setback)
    for (how, why), same in groups.items():
        launches = sum(each.launches for each in same)
        often = f" ({launches} launches)" if launches > len(same) else ""
        who = _stack_list([names.get(each.stack, each.stack) for each in same])
        item = Item(
            text=f"{who} {how}{often}{f': {why}' if why else ''}", tone=Tone.WRONG, log=same[-1].failure.log
        )
        yield _Cause(grave=0 if any(each.withdrawn for each in same) else 1, item=item)


def _gaps(standing: Standing, names: Mapping[str, str]) -> Iterator[_Cause]:
    groups: dict[tuple[str, str], list[Gap]] = {}
    for gap in standing.gaps:
        why = failure_message(gap.failure, " there") or failure_kind(gap.failure)
        groups.setdefault((gap.load.named(gap.workload), why), []).append(gap)
    for (where, why), same in groups.items():
        who = _stack_list([names.get(each.stack, each.stack) for each in same])
        text = f"no figure of {who} at {where}: {why}"
        yield _Cause(grave=3, item=Item(text=text, tone=Tone.DOUBTFUL))


def _complaints(race: Race, standing: Standing, names: Mapping[str, str]) -> Iterator[_Cause]:
    """Yield the findings of checks by cause, with the most serious effect and the stacks without a place."""
    out: dict[str, list[str]] = {}
    for one in standing.withdrawals:
        if one.failure.kind is FailureKind.REFUSED and one.failure.finding is not None:
            out.setdefault(title(one.failure.finding), []).append(one.stack)
    is_news = standing.current is not None and standing.current.is_news
    groups: dict[str, list[Complaint]] = {}
    for complaint in complaints(race, standing):
        if complaint.check != _ELSEWHERE:
            groups.setdefault(_CAUSES.get(complaint.check, complaint.check), []).append(complaint)
    for cause, same in groups.items():
        first = same[0]
        # the news already says this about the stack
        if is_news and cause == Cause.ERRORS and all(one.stacks == (race.current,) for one in same):
            continue
        checks = dict.fromkeys(complaint.check for complaint in same)
        gone = dict.fromkeys(names.get(stack, stack) for check in checks for stack in out.get(check, ()))
        lost = f"; {_stack_list([*gone])} not ranked" if gone else ""
        seen = f": {first.seen}" if first.seen else ""
        item = Item(lead=", ".join(checks), tone=_TONES[first.effect], text=f"{first.headline}{lost}{seen}")
        yield _Cause(grave=0 if gone else _GRAVE[first.effect], item=item)


def _stack_list(stacks: Sequence[str]) -> str:
    return listed(stacks if len(stacks) <= 2 else [stacks[0], f"{len(stacks) - 1} more"])
