"""Launches that failed: a side whose launches fail is compared by that, not by those that survived."""

from __future__ import annotations

from itertools import pairwise

from ...model.gate import FailedLaunches
from ...model.launch import FailureKind, Launch
from ...model.race import Race
from ...model.stack import Side, side_of
from ..ledger import FAILED_LAUNCHES

__all__ = ["SOON", "failed", "failed_launches", "is_down", "is_pending"]

SOON = 3
"""A failure of the head is confirmed by another among so many launches after it. Of an app whose launches fail now
and then on both sides, two so close together, before any of the base's, are rare."""

_NO_FAILURE = (FailureKind.INTERRUPTED, FailureKind.NOT_STOPPED)
"""What was cut short is raced again, and what stops late was measured before."""


def failed(launch: Launch) -> bool:
    """Tell whether a launch did not come up, answered wrongly, or died."""
    return launch.failure is not None and launch.failure.kind not in _NO_FAILURE


def failed_launches(race: Race) -> FailedLaunches:
    """Return how many launches of each side failed, and whether that is the head's doing."""
    base, head = _own(race, Side.BASE), _own(race, Side.HEAD)
    fell = [number for number, launch in enumerate(head) if failed(launch)]
    again = any(later - earlier <= SOON for earlier, later in pairwise(fell))
    of_base = sum(map(failed, base))
    return FailedLaunches(base=of_base, head=len(fell), confirmed=again and bool(base) and not of_base)


def is_pending(race: Race) -> bool:
    """Tell whether fresh launches may still confirm a failure of the head."""
    last = _own(race, Side.HEAD)[-SOON:]
    return any(map(failed, last)) and not any(map(failed, _own(race, Side.BASE)))


def is_down(race: Race, side: Side) -> bool:
    """Tell whether the last launches of a side all failed before they could be measured."""
    last = _own(race, side)[-FAILED_LAUNCHES:]
    return len(last) == FAILED_LAUNCHES and all(failed(launch) and not launch.slices for launch in last)


def _own(race: Race, side: Side) -> list[Launch]:
    return [launch for launch in race.launches if side_of(launch.stack) is side and not launch.cut_short]
