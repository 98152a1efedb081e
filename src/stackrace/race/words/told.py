"""What sentences about one load level are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...model.race import Race
from ...model.standing import Level, Row
from ...stats.judge import Judgement

__all__ = ["Told", "named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One level as it was judged: ``stacks`` are those of the judgement's indices, each with its launches' values.

    ``values`` holds ln(throughput) by stack and block, NaN where a block has none.
    """

    race: Race
    level: Level
    stacks: Sequence[str]
    judgement: Judgement
    values: Sequence[Sequence[float]] = ()

    @property
    def rows(self) -> Sequence[Row]:
        """The level's rows, best tier first."""
        return self.level.rows

    def row(self, index: int) -> Row:
        """Return the row of the stack with that index."""
        return next(row for row in self.rows if row.stack == self.stacks[index])


def named(told: Told) -> int:
    """Return the index of the stack that the answer speaks of: the leader, unless only others are proved to win."""
    judgement = told.judgement
    good = judgement.winners or (judgement.leader,)
    return judgement.leader if judgement.leader in good else judgement.foremost(good)
