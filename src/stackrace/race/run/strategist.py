"""Strategies of features: how a race with a feature's part is resumed, forecast, scheduled and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from ...extensions import Strategy, declared, load
from ..preparation.prepared import PreparedRace
from ..results.parts import RacePart
from ..results.race import Race
from .scheduling import Scheduling


class Strategist(Protocol):
    """A feature's strategy for races with its part."""

    def fewest(self, race: Race) -> int:
        """Return the number of stacks that must be ready before any is launched, if ``race`` is resumed."""

    def resumed(self, fresh: PreparedRace, race: Race) -> PreparedRace:
        """Return ``fresh`` as the prepared ``race`` to resume."""

    def outlook(self, fresh: PreparedRace) -> tuple[str, ...]:
        """Return the forecasts for the race, one sentence each."""

    def show(self, race: Race, *, html: Path | None, as_json: bool) -> None:
        """Print the result, or write it to ``html``. Raises InterruptedRace or RefusedError if it is no answer."""

    def scheduling(self, ready: PreparedRace) -> Scheduling:
        """Return the rules by which ``ready`` is raced."""


def strategist_of(race: Race) -> Strategist | None:
    """Return the strategist of the feature that ``race`` has a part of; None if the race looks for the winner."""
    for strategy in declared(Strategy):
        if isinstance(race.parts.held.get(strategy.part), RacePart):
            found: Strategist = load(strategy.import_path)
            return found
    return None
