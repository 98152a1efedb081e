"""Launches that failed: a side whose launches fail is compared by that, not by those that survived."""

from __future__ import annotations

import math

from ...measure.launch import FailureKind, Launch
from ...race.ledger import FAILED_OF_A_SIDE
from ...race.results.race import Race
from ...stacks.stack import Side, side_of
from .model import FailedLaunches

__all__ = ["IN_ALL", "failed", "failed_launches", "failures_needed", "is_down", "may_be_confirmed"]

IN_ALL = 7
"""So many failures of the head before any of the base's are its own doing: ½⁷ < 1 %."""

_NO_FAILURE = (FailureKind.INTERRUPTED, FailureKind.NOT_STOPPED)
"""What was cut short is raced again, and what stops late was measured before."""


def failed(launch: Launch) -> bool:
    """Tell whether a launch did not come up, answered wrongly, or died."""
    return launch.failure is not None and launch.failure.kind not in _NO_FAILURE


def failed_launches(race: Race) -> FailedLaunches:
    """Return how many launches of each side failed, and whether that is the head's doing.

    It is, if none of the base's failed, and ``FAILED_OF_A_SIDE`` of the head's in a row, or ``IN_ALL``. Where both
    sides fail equally often, however often, so many are the head's alone in less than 1 % of checks: with a
    probability q of a failure, (q(1 − q))⁴ < ½⁸ for each row, and ½⁷ for the first seven.
    """
    base, head = _failures(race, Side.BASE), _failures(race, Side.HEAD)
    rows = (head[first : first + FAILED_OF_A_SIDE] for first in range(len(head) - FAILED_OF_A_SIDE + 1))
    enough = sum(head) >= IN_ALL or any(map(all, rows))
    return FailedLaunches(base=sum(base), head=sum(head), confirmed=enough and bool(base) and not any(base))


def may_be_confirmed(failed: FailedLaunches) -> bool:
    """Tell whether fresh launches may show that failures are the head's doing."""
    return failed.head > 0 and not failed.base


def failures_needed(race: Race) -> int:
    """Return after how many more launches of a side failures of the head will confirm one another, if as many of
    them fail as so far. Only where some did."""
    head = _failures(race, Side.HEAD)
    return math.ceil(max(IN_ALL - sum(head), 1) * len(head) / sum(head))


def is_down(race: Race, side: Side) -> bool:
    """Tell whether the last launches of a side all failed: it is not launched again."""
    last = _failures(race, side)[-FAILED_OF_A_SIDE:]
    return len(last) == FAILED_OF_A_SIDE and all(last)


def _failures(race: Race, side: Side) -> list[bool]:
    own = [launch for launch in race.launches if side_of(launch.stack) is side and not launch.cut_short]
    return list(map(failed, own))
