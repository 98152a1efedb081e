"""A race's standing, with its latencies merged by the engine's own histograms."""

from __future__ import annotations

from dataclasses import replace

from ..load.histogram import distribution, quantiles
from ..model.race import Race
from ..model.standing import Standing
from ..race.outlook import outlook
from ..race.standing import standing

__all__ = ["standing_of", "standing_so_far"]


def standing_of(race: Race) -> Standing:
    """Return the standing of ``race``; every report of it starts here.

    Its answer also says how much time would be needed, where that is more than the budget.
    """
    return _looking_ahead(race, standing(race, merge=quantiles, spread=_spread))


def _spread(histogram: bytes) -> list[tuple[float, int]]:
    return [(bucket.value_s, bucket.count) for bucket in distribution(histogram)]


def standing_so_far(race: Race) -> Standing:
    """Return the standing of a running ``race``, quickly: its machine is the one that is measured."""
    return _looking_ahead(race, standing(race, merge=quantiles, thorough=False))


def _looking_ahead(race: Race, found: Standing) -> Standing:
    ahead = outlook(race, found)
    return replace(found, answer=f"{found.answer} {ahead}") if ahead else found
