"""One load level and how its stacks were judged: what the parts of a standing are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..stats.judge import Judgement, judge
from .levels import MeasuredLevel
from .results.race import Race
from .results.standing import Level, Row

__all__ = ["JudgedLevel", "judgement_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLevel:
    """A level, its judgement, and the race it belongs to."""

    race: Race
    measured: MeasuredLevel
    judgement: Judgement
    """By the indices of the measured stacks."""
    level: Level

    @property
    def stacks(self) -> Sequence[str]:
        """The measured stacks, by the judgement's indices."""
        return self.measured.stacks

    @property
    def rows(self) -> Sequence[Row]:
        """The level's rows, best tier first."""
        return self.level.rows

    @property
    def series(self) -> tuple[str, bool]:
        """What levels share that differ in nothing but the number of connections."""
        return self.level.workload, self.level.load.keep_alive

    @property
    def first(self) -> int:
        """The index of the stack that the answer names."""
        return self.judgement.leader

    def row(self, index: int) -> Row:
        """Return the row of the stack with that index."""
        return next(row for row in self.rows if row.stack == self.stacks[index])


def judgement_of(race: Race, level: MeasuredLevel, *, drops: bool) -> Judgement:
    """Judge a level. Only where the answer is looked for, and not all is measured anyway, stacks are out of it."""
    drops = drops and not race.exhaustive and race.repeats is None
    return judge(level.values, race.difference, question=race.question, drops=drops)
