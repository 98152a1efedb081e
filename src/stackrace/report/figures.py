"""How numbers look in every report: three digits, grouped thousands, one unit per column."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..model.load import Quantiles
from ..model.standing import Interval, Row

__all__ = [
    "NOTHING", "Figure", "count", "duration", "limits", "mebibytes", "milliseconds", "number", "percent",
    "percentile", "percentile_limits", "places", "quantile", "ratio",
]  # fmt: skip

NOTHING = "–"
"""What stands where no figure is known."""

Figure = Callable[[float], str]
"""Writes one value of a column, without its unit."""


def number(value: float) -> str:
    """Return ``value`` with three digits or all its whole ones.

    >>> number(12345.6), number(12.345), number(0.0481), number(0)
    ('12,346', '12.3', '0.048', '0')
    """
    if not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    if decimals > 3:
        return f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.1g}"
    return f"{value:,.{decimals}f}"


def milliseconds(seconds: float) -> str:
    """Return ``seconds`` as milliseconds."""
    return number(seconds * 1e3)


def mebibytes(size: float) -> str:
    """Return ``size`` (bytes) as whole MiB, or with three digits below ten."""
    mib = size / 1024**2
    return f"{mib:,.0f}" if mib >= 10 else number(mib)


def count(value: float) -> str:
    """Return a whole number with grouped thousands."""
    return f"{value:,.0f}"


def percent(share: float) -> str:
    """Return ``share`` (0.04) as ``4 %``, with a decimal below ten when it needs one."""
    value = share * 100
    return f"{value:.0f} %" if abs(value) >= 10 or abs(value - round(value)) < 0.05 else f"{value:.1f} %"


def ratio(value: float) -> str:
    """Return a ratio with two decimals, three digits from ten on."""
    return f"{value:.2f}" if abs(value) < 10 else number(value)


def limits(interval: Interval, figure: Figure) -> str:
    """Return the limits as ``low–high``; empty while too few launches allow any."""
    if interval.low is None or interval.high is None:
        return ""
    if interval.low == interval.high == interval.value:
        return ""
    return f"{figure(interval.low)}–{figure(interval.high)}"


def quantile(latency: Quantiles, name: str) -> str:
    """Return the quantile ``name`` (``p99``) in milliseconds, with "≥" when it is only a lower bound."""
    value = milliseconds(getattr(latency, name))
    return f"≥ {value}" if name in latency.censored else value


def percentile(row: Row, name: str) -> str:
    """Return the quantile ``name`` of ``row`` in milliseconds: "≥" a lower bound, "–" with too few requests for it.

    With limits it is their estimate, a mean over launches; without any it is the quantile of all requests together.
    """
    found = row.latency_limits.get(name)
    if found is None:
        return NOTHING if name in row.latency_limits else quantile(row.latency, name)
    return f"≥ {milliseconds(found.value)}" if name in row.latency.censored else milliseconds(found.value)


def percentile_limits(row: Row, name: str) -> str:
    """Return the limits of the quantile ``name`` in milliseconds as ``low–high``; a lower bound has none."""
    found = row.latency_limits.get(name)
    return "" if found is None or name in row.latency.censored else limits(found, milliseconds)


def places(rank: tuple[int, int]) -> str:
    """Return the set of places as ``2`` or ``2–4``."""
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"


def duration(seconds: float) -> str:
    """Return a length of time in its two largest units.

    >>> duration(4.2), duration(65), duration(3600), duration(7290)
    ('4.2 s', '1 min 5 s', '1 h', '2 h 1 min')
    """
    if not math.isfinite(seconds):
        return NOTHING
    if seconds < 9.95:
        return f"{max(0.0, seconds):.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h" + (f" {minutes} min" if minutes else "")
