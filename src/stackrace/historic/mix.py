"""What a mix should have reached, from the rungs as measured: its author's arithmetic, and the one that holds."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..model.comparison import CellName, Comparison, Metric, Mix
from ..model.numbers import number
from ..model.race import Race
from ..stats.ratio import Contrast, ratios
from .cells import path_in, values
from .prediction import LADDER_MIX, mean_of_rates, rate_of_mean_time
from .reading import published_ratio

__all__ = ["mix_note"]


def mix_note(comparison: Comparison, race: Race | None, mix: Mix) -> str:
    """Say what the mix reached, and what either arithmetic predicts from today's rungs; empty when one is missing.

    All rates are relative to that of the mix's main part, so that nothing but ratios of one block is needed.
    """
    if race is None:
        return ""
    main = max(LADDER_MIX, key=lambda url: LADDER_MIX[url])
    now = {url: _ratio(comparison, race, mix, _workload(url), _workload(main)) for url in LADDER_MIX}
    reached = _ratio(comparison, race, mix, mix.workload, _workload(main))
    known = {url: rate for url, rate in now.items() if rate is not None}
    if reached is None or len(known) < len(now):
        return ""
    said = (
        f"The mix reached {number(reached)} of the rate of {_workload(main)} alone. From today's rungs the mean of "
        f"the rates, its author's arithmetic, predicts {number(mean_of_rates(known))}, the mean of the times "
        f"{number(rate_of_mean_time(known))}"
    )
    then = _published(comparison, mix, main)
    if then is None:
        return f"{said}."
    rates = f"{number(mean_of_rates(then))} and {number(rate_of_mean_time(then))}"
    return f"{said}; from the rungs of then they predict {rates}."


def _workload(url: str) -> str:
    """A rung's workload is called like its URL."""
    return url.strip("/")


def _cell(mix: Mix, workload: str) -> CellName:
    return CellName(technique=mix.technique, workload=workload, concurrency=mix.concurrency)


def _ratio(comparison: Comparison, race: Race, mix: Mix, this: str, that: str) -> float | None:
    if this == that:
        return 1.0
    path = path_in(race, comparison.techniques[mix.technique])
    first, second = (values(race, path, _cell(mix, name), Metric.THROUGHPUT) for name in (this, that))
    both = tuple(first[block] - second[block] for block in sorted(first.keys() & second.keys()))
    return ratios([Contrast(this=0, that=1, differences=both)])[0].value if both else None


def _published(comparison: Comparison, mix: Mix, main: str) -> Mapping[str, float] | None:
    rates = {
        url: published_ratio(
            comparison.figures, mix.part, Metric.THROUGHPUT, _cell(mix, _workload(url)), _cell(mix, _workload(main))
        )
        for url in LADDER_MIX
    }
    known = {url: rate for url, rate in rates.items() if rate is not None and math.isfinite(rate)}
    return known if len(known) == len(rates) else None
