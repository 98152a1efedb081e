"""Launches that failed and stacks without a place, told once per stack and cause."""

from __future__ import annotations

from dataclasses import dataclass

from ..measure.launch import Failure, FailureKind
from ..race.results.race import Race
from ..race.results.standing import Standing
from ..stacks.stack import original_path
from .words.failures import kind, message

__all__ = ["Setback", "setbacks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """One stack's failures of one cause. ``launches`` counts them; ``withdrawn``: the stack has no place."""

    stack: str
    failure: Failure
    launches: int
    withdrawn: bool

    @property
    def sentence(self) -> str:
        """What happened, how often."""
        often = f" ({self.launches} launches)" if self.launches > 1 else ""
        return f"{kind(self.failure)}{often}"

    @property
    def message(self) -> str:
        """Why, in words; empty where the kind of failure says it all."""
        return message(self.failure)


def setbacks(race: Race, standing: Standing) -> tuple[Setback, ...]:
    """Return all setbacks: withdrawn stacks first, each with the last log seen."""
    withdrawn = {withdrawal.stack for withdrawal in standing.withdrawals}
    groups: dict[tuple[str, FailureKind, str], list[Failure]] = {}
    for launch in race.launches:
        if launch.failure is not None and not launch.cut_short:
            key = (original_path(launch.stack), launch.failure.kind, message(launch.failure))
            groups.setdefault(key, []).append(launch.failure)
    for withdrawal in standing.withdrawals:
        failure = withdrawal.failure
        if not any(stack == withdrawal.stack and how is failure.kind for stack, how, _ in groups):
            groups[withdrawal.stack, failure.kind, message(failure)] = [failure]
    grouped = [
        Setback(stack=stack, failure=failures[-1], launches=len(failures), withdrawn=stack in withdrawn)
        for (stack, _, _), failures in groups.items()
    ]
    return tuple(sorted(grouped, key=lambda setback: not setback.withdrawn))
