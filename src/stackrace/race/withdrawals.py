"""Which stacks have no place in a standing, and why."""

from __future__ import annotations

from collections.abc import Set

from ..base.verdict import usual_refusal
from ..measure.launch import Failure, FailureKind, Lack
from .results.race import Race
from .results.standing import Withdrawal

__all__ = ["withdrawals"]


def withdrawals(race: Race, placed: Set[str]) -> tuple[Withdrawal, ...]:
    """Return why stacks are missing among those that are ``placed``, by path; nothing of one yet to be raced."""
    missing = ((stack, _failure(race, stack)) for stack in race.stacks if stack not in placed)
    return tuple(Withdrawal(stack=stack, failure=failure) for stack, failure in missing if failure is not None)


def _failure(race: Race, stack: str) -> Failure | None:
    """Return a stack's last failure, else what refused its slices, or None while its turn may still come."""
    launches = [launch for launch in race.launches if launch.stack == stack]
    failures = [launch.failure for launch in launches if launch.failure is not None]
    if failures:
        return failures[-1]
    finding = usual_refusal(slice_.verdict for launch in launches for slice_ in launch.slices)
    if finding is not None:
        return Failure(kind=FailureKind.REFUSED, finding=finding)
    if launches:
        return Failure(kind=FailureKind.REFUSED, lack=Lack.RIGHT_ANSWER)
    if race.ending is not None:
        return Failure(kind=FailureKind.REFUSED, lack=Lack.LAUNCH)
    return None
