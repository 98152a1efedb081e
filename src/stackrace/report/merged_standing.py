"""A race's standing, with its latencies merged by the engine's own histograms."""

from __future__ import annotations

from ..measure.engine.histogram import distribution, quantiles
from ..race.judge.ranking import standing
from ..race.results.race import Race
from ..race.results.standing import Standing


def standing_of(race: Race) -> Standing:
    """Return the standing of ``race``; every report of it starts here."""
    return standing(
        race,
        merge=quantiles,
        spread=lambda histogram: [(bucket.value_s, bucket.count) for bucket in distribution(histogram)],
    )


def standing_so_far(race: Race) -> Standing:
    """Return the standing of a running ``race``, quickly: the measured machine computes it."""
    return standing(race, merge=quantiles, thorough=False)
