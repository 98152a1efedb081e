"""What was refused, repeated, left out or warned about: one line for each cause, the gravest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..base.verdict import Effect
from ..measure.launch import FailureKind
from ..race.results.race import Race
from ..race.results.standing import Standing
from ..validity import DECLARATIONS
from ..validity.declaration import Cause
from ..validity.stack import debug_on
from .complaints import Complaint, complaints
from .setbacks import Setback, setbacks
from .sheet import Item, Tone
from .words.failures import kind
from .words.findings import check_title, title
from .words.left_out import left_out
from .words.phrases import listed

__all__ = ["causes"]

_TONES = {Effect.INVALIDATES: Tone.WRONG, Effect.REDOES: Tone.REDONE, Effect.WARNS: Tone.DOUBTFUL}
_CAUSES = {each.title: each.cause for each in DECLARATIONS.values() if each.cause is not None}
_GRAVE = {Effect.INVALIDATES: 1, Effect.REDOES: 2, Effect.WARNS: 4}
_ELSEWHERE = check_title(debug_on.declaration.id)
"""What is said of the whole race, and not here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    grave: int
    """Causes with a smaller number come first."""
    item: Item


def causes(race: Race, standing: Standing, names: Mapping[str, str]) -> tuple[Item, ...]:
    """Return an item for each cause; ``names`` are those of stacks with a shorter one than their path."""
    found = [*_failures(race, standing, names), *_complaints(race, standing, names)]
    if absent := left_out(race):
        found.append(_Cause(grave=3, item=Item(text=absent)))
    return tuple(cause.item for cause in sorted(found, key=lambda cause: cause.grave))


def _failures(race: Race, standing: Standing, names: Mapping[str, str]) -> Iterator[_Cause]:
    """Yield what stacks failed of, those of one cause together; what a check refused is told with the check."""
    groups: dict[tuple[str, str], list[Setback]] = {}
    for setback in setbacks(race, standing):
        if setback.failure.kind is not FailureKind.REFUSED or setback.failure.finding is None:
            groups.setdefault((kind(setback.failure), setback.message), []).append(setback)
    for (how, why), same in groups.items():
        launches = sum(each.launches for each in same)
        often = f" ({launches} launches)" if launches > len(same) else ""
        who = _named([names.get(each.stack, each.stack) for each in same])
        item = Item(
            text=f"{who} {how}{often}{f': {why}' if why else ''}", tone=Tone.WRONG, log=same[-1].failure.log
        )
        yield _Cause(grave=0 if any(each.withdrawn for each in same) else 1, item=item)


def _complaints(race: Race, standing: Standing, names: Mapping[str, str]) -> Iterator[_Cause]:
    """Yield what checks found that see the same cause, with the gravest effect and who has no place for it."""
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
        # the news says it of this stack
        if is_news and cause == Cause.ERRORS and all(one.stacks == (race.current,) for one in same):
            continue
        checks = dict.fromkeys(complaint.check for complaint in same)
        gone = dict.fromkeys(names.get(stack, stack) for check in checks for stack in out.get(check, ()))
        place = f"; no place for {_named([*gone])}" if gone else ""
        seen = f": {first.seen}" if first.seen else ""
        item = Item(lead=", ".join(checks), tone=_TONES[first.effect], text=f"{first.headline}{place}{seen}")
        yield _Cause(grave=0 if gone else _GRAVE[first.effect], item=item)


def _named(stacks: Sequence[str]) -> str:
    """Name two stacks at most: there is one line."""
    return listed(stacks if len(stacks) <= 2 else [stacks[0], f"{len(stacks) - 1} more"])
