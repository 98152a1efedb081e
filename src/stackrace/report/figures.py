"""Common format of estimates with limits, latencies, places and lists of stacks in all reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..base.numbers import NOTHING, Figure, Interval, milliseconds, not_one, number
from ..base.units import DURATION

if TYPE_CHECKING:
    from ..measure.load import Quantiles
    from ..race.results.standing import Row


def limits(interval: Interval, figure: Figure) -> str:
    """Return the limits as ``low–high``; empty if launches are too few for limits."""
    if interval.low is None or interval.high is None:
        return ""
    if interval.low == interval.high == interval.value:
        return ""
    return f"{figure(interval.low)}–{figure(interval.high)}"


def ratio(interval: Interval) -> str:
    """Return the estimate of a ratio, without its limits."""
    return _ratio_figure(interval)(interval.value)


def ratio_limits(interval: Interval) -> str:
    """Return the limits of a ratio; if they exclude 1, neither is written as ``1.00``."""
    return limits(interval, _ratio_figure(interval))


def _ratio_figure(interval: Interval) -> Figure:
    excludes = interval.low is not None and interval.high is not None and not interval.low <= 1 <= interval.high
    return not_one if excludes else number


def timed(latency: Quantiles, name: str) -> str:
    """Return the quantile ``name`` in a fitting unit, with "≥" if it is only a lower bound."""
    bound = "≥ " if name in latency.censored else ""
    return bound + DURATION.format(getattr(latency, name))


def quantile(latency: Quantiles, name: str) -> str:
    """Return the quantile ``name`` (``p99``) in milliseconds, with "≥" if it is only a lower bound."""
    value = milliseconds(getattr(latency, name))
    return f"≥ {value}" if name in latency.censored else value


def percentile(row: Row, name: str) -> str:
    """Return the quantile ``name`` of ``row`` in milliseconds: "≥" a lower bound, "–" with too few requests.

    With limits it is their estimate, a mean over launches; without, the quantile of all requests together.
    """
    known = row.latency_limits.get(name)
    if known is None:
        return NOTHING if name in row.latency_limits else quantile(row.latency, name)
    return f"≥ {milliseconds(known.value)}" if name in row.latency.censored else milliseconds(known.value)


def percentile_limits(row: Row, name: str) -> str:
    """Return the limits of the quantile ``name`` in milliseconds as ``low–high``; a lower bound has none."""
    known = row.latency_limits.get(name)
    return "" if known is None or name in row.latency.censored else limits(known, milliseconds)


_FRACTIONS = (("a quarter of ", 0.23, 0.27), ("a third of ", 0.31, 0.36), ("half ", 0.47, 0.53))
"""Names of ratios, each with its range."""


def tier(row: Row) -> str:
    """Return the row's tier; a dash for a stack that has none."""
    return NOTHING if row.tier is None else str(row.tier)


def sentence(text: str, stacks: Sequence[str]) -> str:
    """Return ``text`` with a full stop, and with a capital unless a stack's name comes first."""
    named = text.split(" ", 1)[0].rstrip(",") in stacks
    return (text if named else text[:1].upper() + text[1:]) + "."


def names(stacks: Sequence[str]) -> str:
    """Return the names of up to four stacks, or of the first three and the number of the others."""
    named = list(stacks) if len(stacks) <= 4 else [*stacks[:3], f"{len(stacks) - 3} more"]
    return listed(named)


def others(stacks: Sequence[str]) -> str:
    """Return the names of up to three stacks, or only their number."""
    return listed(stacks) if len(stacks) <= 3 else f"{len(stacks)} others"


def listed(things: Sequence[object]) -> str:
    """Return ``a, b and c``."""
    words = [str(thing) for thing in things]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def times(interval: Interval) -> str:
    """Return a ratio with its limits: ``1.28× (1.24–1.33)``."""
    return limited(interval, "×")


def limited(interval: Interval, unit: str = "") -> str:
    """Return a ratio with its limits: ``0.81 (0.78–0.84)``."""
    around = ratio_limits(interval)
    return f"{ratio(interval)}{unit}{f' ({around})' if around else ''}"


def share(value: float) -> str:
    """Return a ratio of costs before a noun: ``a third of ``, ``2.4× ``."""
    for word, low, high in _FRACTIONS:
        if low <= value <= high:
            return word
    return f"{number(value)}× "
