"""What a mix should have reached, from the rungs as measured: its author's arithmetic, and the one that holds."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...race.results.race import Race
from .cells import measured_ratio
from .model import CellName, Comparison, Metric, Mix
from .prediction import LADDER_MIX, mean_of_rates, rate_of_mean_time
from .reading import published_ratio
from .rerun import MixOutcome, Prediction

__all__ = ["mix_outcome"]


def mix_outcome(comparison: Comparison, race: Race | None, mix: Mix) -> MixOutcome | None:
    """Return what the mix reached, and what either arithmetic predicts from the rungs; None when one is missing.

    All rates are relative to that of the mix's main part, so that nothing but ratios of one block is needed.
    """
    if race is None:
        return None
    main = max(LADDER_MIX, key=lambda url: LADDER_MIX[url])
    now = _predicted({url: _ratio(comparison, race, mix, _workload(url), _workload(main)) for url in LADDER_MIX})
    reached = _ratio(comparison, race, mix, mix.workload, _workload(main))
    if reached is None or now is None:
        return None
    return MixOutcome(main=_workload(main), reached=reached, now=now, then=_published(comparison, mix, main))


def _predicted(rates: Mapping[str, float | None]) -> Prediction | None:
    """Return what both arithmetics make of the rungs' rates; None where one is unknown."""
    known = {url: rate for url, rate in rates.items() if rate is not None and math.isfinite(rate)}
    if len(known) < len(rates):
        return None
    return Prediction(mean_of_rates=mean_of_rates(known), rate_of_mean_time=rate_of_mean_time(known))


def _workload(url: str) -> str:
    """A rung's workload is called like its URL."""
    return url.strip("/")


def _cell(mix: Mix, workload: str) -> CellName:
    return CellName(technique=mix.technique, workload=workload, concurrency=mix.concurrency)


def _ratio(comparison: Comparison, race: Race, mix: Mix, this: str, that: str) -> float | None:
    if this == that:
        return 1.0
    return measured_ratio(comparison, race, Metric.THROUGHPUT, _cell(mix, this), _cell(mix, that))


def _published(comparison: Comparison, mix: Mix, main: str) -> Prediction | None:
    return _predicted(
        {
            url: published_ratio(
                comparison.figures, mix.part, Metric.THROUGHPUT,
                _cell(mix, _workload(url)), _cell(mix, _workload(main)),
            )
            for url in LADDER_MIX
        }
    )  # fmt: skip
