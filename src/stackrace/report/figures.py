"""How estimates with their limits, latencies and places look in every report."""

from __future__ import annotations

from ..base.numbers import (
    NOTHING,
    Figure,
    coefficient,
    count,
    duration,
    mebibytes,
    milliseconds,
    not_one,
    number,
    percent,
)
from ..base.units import DURATION
from ..measure.load import Quantiles
from ..race.results.standing import Interval, Row

__all__ = [
    "NOTHING", "Figure", "coefficient",
    "count", "duration", "limits", "mebibytes", "milliseconds", "number",
    "p50_without_network", "percent", "percentile", "percentile_limits", "places", "quantile",
    "ratio", "ratio_limits", "timed",
]  # fmt: skip


def limits(interval: Interval, figure: Figure) -> str:
    """Return the limits as ``low–high``; empty while too few launches allow any."""
    if interval.low is None or interval.high is None:
        return ""
    if interval.low == interval.high == interval.value:
        return ""
    return f"{figure(interval.low)}–{figure(interval.high)}"


def ratio(interval: Interval) -> str:
    """Return the estimate of a ratio, without its limits."""
    return _of_ratio(interval)(interval.value)


def ratio_limits(interval: Interval) -> str:
    """Return the limits of a ratio; none is written as ``1.00`` where they exclude 1."""
    return limits(interval, _of_ratio(interval))


def _of_ratio(interval: Interval) -> Figure:
    excludes = interval.low is not None and interval.high is not None and not interval.low <= 1 <= interval.high
    return not_one if excludes else number


def timed(latency: Quantiles, name: str) -> str:
    """Return the quantile ``name`` with the unit that fits it, with "≥" when it is only a lower bound."""
    bound = "≥ " if name in latency.censored else ""
    return bound + DURATION.format(getattr(latency, name))


def quantile(latency: Quantiles, name: str) -> str:
    """Return the quantile ``name`` (``p99``) in milliseconds, with "≥" when it is only a lower bound."""
    value = milliseconds(getattr(latency, name))
    return f"≥ {value}" if name in latency.censored else value


def p50_without_network(row: Row) -> str:
    """Return the estimate in milliseconds, with "≥" where the median is only a lower bound."""
    if row.p50_without_network_s is None:
        return NOTHING
    value = milliseconds(row.p50_without_network_s)
    return f"≥ {value}" if "p50" in row.latency.censored else value


def percentile(row: Row, name: str) -> str:
    """Return the quantile ``name`` of ``row`` in milliseconds: "≥" a lower bound, "–" with too few requests for it.

    With limits it is their estimate, a mean over launches; without any it is the quantile of all requests together.
    """
    known = row.latency_limits.get(name)
    if known is None:
        return NOTHING if name in row.latency_limits else quantile(row.latency, name)
    return f"≥ {milliseconds(known.value)}" if name in row.latency.censored else milliseconds(known.value)


def percentile_limits(row: Row, name: str) -> str:
    """Return the limits of the quantile ``name`` in milliseconds as ``low–high``; a lower bound has none."""
    known = row.latency_limits.get(name)
    return "" if known is None or name in row.latency.censored else limits(known, milliseconds)


def places(rank: tuple[int, int]) -> str:
    """Return the set of places as ``2`` or ``2–4``."""
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"
