"""What the checks complained about, grouped by check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model.race import Race
from ..model.stack import original_path
from ..model.standing import Standing
from ..model.verdict import Effect, Finding

__all__ = ["Complaint", "complaints"]

_SEVERITY = (Effect.INVALIDATES, Effect.REDOES, Effect.WARNS)
_DONE = {
    Effect.INVALIDATES: "refused",
    Effect.REDOES: "redone",
    Effect.WARNS: "warned about",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One check's findings of one effect: how often, where, the first one in words, and the way out."""

    check: str
    effect: Effect
    count: int
    stacks: tuple[str, ...] = ()
    seen: str = ""
    threshold: str = ""
    remedy: str = ""

    @property
    def headline(self) -> str:
        """``3 slices refused``: how often, and what it did."""
        return f"{self.count} {'slice' if self.count == 1 else 'slices'} {_DONE[self.effect]}"


def complaints(race: Race, standing: Standing) -> tuple[Complaint, ...]:
    """Return all complaints, the gravest first, then the most frequent.

    Warnings counted in the standing keep that count, also when no slice of the race carries them.
    """
    groups: dict[tuple[str, Effect], list[tuple[str, Finding]]] = {}
    for stack, finding in _findings(race):
        groups.setdefault((finding.check, finding.effect), []).append((stack, finding))
    found = [_complaint(pairs, standing) for pairs in groups.values()]
    silent = [
        Complaint(check=check, effect=Effect.WARNS, count=count)
        for check, count in standing.warnings.items()
        if count and not any(name == check for name, _ in groups)
    ]
    return tuple(sorted(found + silent, key=lambda c: (_SEVERITY.index(c.effect), -c.count, c.check)))


def _findings(race: Race) -> Iterable[tuple[str, Finding]]:
    for launch in race.launches:
        for one in launch.slices:
            for finding in one.verdict.findings:
                yield original_path(launch.stack), finding


def _complaint(pairs: list[tuple[str, Finding]], standing: Standing) -> Complaint:
    first = pairs[0][1]
    stacks = tuple(dict.fromkeys(stack for stack, _ in pairs))
    count = len(pairs)
    if first.effect is Effect.WARNS:
        count = standing.warnings.get(first.check, count)
    return Complaint(
        check=first.check, effect=first.effect, count=count, stacks=stacks,
        seen=first.seen, threshold=first.threshold, remedy=first.remedy,
    )  # fmt: skip
