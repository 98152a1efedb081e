"""Who decides what is raced next, and when a race ends: where no feature does, the winner is looked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..extensions import Strategy, declared, load
from .decisions import Decisions
from .plan import Cell
from .results.parts import RacePart
from .results.race import Race

if TYPE_CHECKING:
    from .preparation.prepared import PreparedRace

OpenCells = Callable[[Race, Sequence[Cell]], Sequence[Cell]]
"""Returns those of the cells that are still to be raced, after the race so far; none of them ends the race."""

Decide = Callable[[Race], Decisions]
"""Says between blocks whether a race's question is answered, and who need not go on."""


class Strategist(Protocol):
    """How a race with a part of a feature's goes."""

    @property
    def verb(self) -> str:
        """What starts such a race: ``stackrace tune STACK``."""

    def fewest(self, race: Race) -> int:
        """Return how many stacks must be ready before any is launched, when ``race`` goes on."""

    def again(self, fresh: PreparedRace, race: Race) -> PreparedRace:
        """Return ``fresh`` as ``race``, which goes on, had it."""

    def outlook(self, fresh: PreparedRace) -> tuple[str, ...]:
        """Return what is to be expected of it, one sentence each."""

    def show(self, race: Race, *, html: Path | None, as_json: bool) -> None:
        """Show what came of it, on the command line; InterruptedRace or RefusedError where it is no answer."""

    def decisions(self, ready: PreparedRace) -> tuple[OpenCells, Decide]:
        """Return who chooses the cells before each block, and who says when the question is answered."""


def strategist_of(race: Race) -> Strategist | None:
    """Return who decides in ``race``; None where the winner is looked for."""
    for strategy in declared(Strategy):
        if isinstance(race.parts.held.get(strategy.part), RacePart):
            return strategist_named(strategy.part)
    return None


def strategist_named(part: str) -> Strategist:
    """Return who decides in races that have the part of this name."""
    found: Strategist = load(next(each.place for each in declared(Strategy) if each.part == part))
    return found
