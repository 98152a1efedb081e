"""Scheduling: which stacks race next, for how long, and when a race ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...measure.launch import FailureKind
from ..judge.decisions import Decisions, decisions
from ..plan import Cell, RacePlan
from ..results.race import Race
from .blocks import Blocks, Rounds, Runs, Slices
from .ledger import keeps_failing


class Scheduling:
    """Rules of a race for the winner. Features whose races have other rules override some of these."""

    relaunches_failed = False
    """True if failed launches are repeated, so that each must leave time for others."""

    def blocks(self, plan: RacePlan) -> Blocks:
        """Return the race's kind of blocks, which decides how long each takes; every machine has blocks of its
        own."""
        return Slices(plan) if plan.race.repeats is None else Runs(plan, plan.race.repeats)

    def cells(self, race: Race, cells: Sequence[Cell]) -> Sequence[Cell]:
        """Return the ``cells`` that are still to be raced, after the race so far; an empty result ends the race."""
        return cells

    def decide(self, race: Race) -> Decisions:
        """Return the decision after the race so far; called between blocks."""
        return decisions(race)

    def is_given_up(self, failures: Sequence[FailureKind]) -> bool:
        """Return True if a stack with such failures in a row, before any slice, is not launched again."""
        return keeps_failing(failures)


class ChosenCells(Scheduling):
    """Rules of a race whose cells are chosen anew before each block."""

    opens_singly = True
    """True if the first blocks measure each cell once, which shows clear differences."""

    def __init__(self, choose: Callable[[Race, Sequence[Cell]], Sequence[Cell]]) -> None:
        self._choose = choose

    def blocks(self, plan: RacePlan) -> Blocks:
        """Return blocks of the chosen cells."""
        if plan.race.repeats is not None:
            return Runs(plan, plan.race.repeats, self.cells)
        return Rounds(plan, self.cells, opens_singly=self.opens_singly)

    def cells(self, race: Race, cells: Sequence[Cell]) -> Sequence[Cell]:
        """Return the chosen cells."""
        return self._choose(race, cells)


FOR_THE_WINNER = Scheduling()
