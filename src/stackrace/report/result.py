"""A race's standing, with its latencies merged by the engine's own histograms."""

from __future__ import annotations

from dataclasses import replace

from ..load.histogram import quantiles
from ..model.race import Race
from ..model.standing import Standing
from ..race.outlook import outlook
from ..race.standing import standing

__all__ = ["standing_of"]


def standing_of(race: Race) -> Standing:
    """Return the standing of ``race``; every report of it starts here.

    Its answer also says how much time would be needed, where that is more than the budget.
    """
    found = standing(race, merge=quantiles)
    ahead = outlook(race, found)
    return replace(found, answer=f"{found.answer} {ahead}") if ahead else found
