"""Ratios then and now: of a published table, and of a mix with the predictions of both arithmetics.

The author of the 2009 cost ladder measured memcached lookups (2,100 requests per second) and the ORM (700), and
predicted a site that answers 90 % from the one and 10 % from the other, less 5 % for logic, at about 1,850. That is
the mean of the rates. But rates do not add up, times do: the slow tenth of the requests takes a quarter of it.
From his own figures the right answer is about 1,660.

Both hold for load that keeps one and the same resource busy, such as a closed loop on a saturated CPU, where a rate
is the reciprocal of a cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .cells import PartRace
from .model import CellName, Comparison, Figure, Metric, Mix, Row, Table
from .rerun import MixOutcome, Prediction, RowOutcome, TableOutcome

_SHARES: Mapping[str, float] = {"memcached": 0.9, "sqlalchemy": 0.1}
"""Shares of the ladder's own mix, by the workloads of its rungs."""

_MAIN = "memcached"
"""The rung with the largest share."""

_EXTRA = 0.05
"""Share of the rate for logic beside the lookups, in the author's words."""

_Ratio = Callable[[CellName, CellName], float | None]
"""Function that returns the ratio of two cells of one part in one metric."""


def published_ratio(
    figures: Iterable[Figure], part: str, metric: Metric, this: CellName, that: CellName
) -> float | None:
    """Return the published ``this`` ÷ ``that``; None unless both have a figure for the whole stack in one unit."""
    known = {
        figure.cell: figure
        for figure in figures
        if figure.part == part and figure.metric is metric and not figure.of
    }
    first, second = known.get(this), known.get(that)
    if first is None or second is None or first.unit != second.unit:
        return None
    return first.value / second.value


def _then(comparison: Comparison, part: str, metric: Metric) -> _Ratio:
    return lambda this, that: published_ratio(comparison.figures, part, metric, this, that)


def _now(raced: PartRace | None, metric: Metric) -> _Ratio:
    return lambda this, that: None if raced is None else raced.ratio(metric, this, that)


def table_outcome(comparison: Comparison, raced: PartRace | None, table: Table) -> TableOutcome:
    """Return the ratios of ``table``, then from the figures and now from ``raced`` (None: not run)."""
    first = table.rows[0]

    def to_the_first(ratio: _Ratio, row: Row) -> tuple[float | None, ...]:
        return tuple(ratio(row.cell(level), first.cell(level)) for level in table.levels)

    then, now = _then(comparison, table.part, table.metric), _now(raced, table.metric)
    rows = (RowOutcome(row=row, then=to_the_first(then, row), now=to_the_first(now, row)) for row in table.rows)
    return TableOutcome(table=table, rows=tuple(rows))


def mix_outcome(comparison: Comparison, raced: PartRace | None, mix: Mix) -> MixOutcome | None:
    """Return the mix's throughput, and both predictions from the rungs; None if one is missing.

    All rates are relative to the rate of the mix's main part, so that only ratios within a block are needed.
    """

    def rungs(ratio: _Ratio) -> Prediction | None:
        rates = {name: ratio(mix.cell(name), mix.cell(_MAIN)) for name in _SHARES}
        known = {name: rate for name, rate in rates.items() if rate is not None}
        return predicted(known) if len(known) == len(rates) else None

    measured = _now(raced, Metric.THROUGHPUT)
    reached, now = measured(mix.cell(mix.workload), mix.cell(_MAIN)), rungs(measured)
    if reached is None or now is None:
        return None
    then = rungs(_then(comparison, mix.part, Metric.THROUGHPUT))
    return MixOutcome(main=_MAIN, reached=reached, now=now, then=then)


def predicted(rates: Mapping[str, float]) -> Prediction:
    """Return the predicted rate of the mix from the rates of its parts, each above 0, with shares sᵢ and rates rᵢ.

    The author's way is Σ sᵢrᵢ · (1 - extra), the weighted arithmetic mean; times add up to (1 - extra) / Σ(sᵢ/rᵢ),
    the weighted harmonic mean, which is never above it, and equal only where all rates are.

    >>> round(predicted({"memcached": 2100, "sqlalchemy": 700}).mean_of_rates)
    1862
    >>> round(predicted({"memcached": 2100, "sqlalchemy": 700}).rate_of_mean_time)
    1662
    """
    parts = [(share, rates[name]) for name, share in _SHARES.items()]
    return Prediction(
        mean_of_rates=sum(share * rate for share, rate in parts) * (1 - _EXTRA),
        rate_of_mean_time=(1 - _EXTRA) / sum(share / rate for share, rate in parts),
    )
