"""How an interrupted race goes on: whole blocks stay, the one that was cut is raced again. Pure."""

from __future__ import annotations

from dataclasses import replace

from ..measure.launch import Failure, FailureKind, Launch
from .results.race import Race

__all__ = ["blocks_done", "counted", "cut_short", "going_on", "spent_s"]


def going_on(race: Race, *, done: int, spent_s: float, budget_s: float | None = None) -> Race:
    """Return ``race`` as it goes on after ``done`` whole blocks, which took ``spent_s`` of its budget.

    Launches of later blocks are marked as cut short: they stay in the books and enter no statistics, as the block
    is raced again in the same order. ``budget_s`` replaces the budget.
    """
    return replace(
        race,
        launches=tuple(launch if launch.block < done else cut_short(launch) for launch in race.launches),
        ending=None,
        elapsed_s=spent_s,
        budget_s=race.budget_s if budget_s is None else budget_s,
        resumed=race.resumed + 1,
    )


def cut_short(launch: Launch) -> Launch:
    """Return ``launch`` as one that counts nowhere.

    What went wrong before stays readable: the launch that is made in its place may fail in the same way.
    """
    if launch.cut_short:
        return launch
    before = launch.failure
    if before is None:
        return replace(launch, failure=Failure(kind=FailureKind.INTERRUPTED))
    return replace(launch, failure=replace(before, kind=FailureKind.INTERRUPTED, before=before.kind))


def counted(race: Race) -> Race:
    """Return ``race`` without the launches that were cut short."""
    return replace(race, launches=tuple(launch for launch in race.launches if not launch.cut_short))


def blocks_done(race: Race) -> int:
    """Return how many blocks ``race`` has when it begins, or goes on: the number of the next one."""
    return 1 + max((launch.block for launch in race.launches if not launch.cut_short), default=-1)


def spent_s(race: Race) -> float:
    """Return what ``race`` has spent of its budget when it begins, or goes on."""
    return race.elapsed_s if race.resumed else 0.0
