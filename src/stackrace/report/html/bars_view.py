"""The sections made of bars in table rows: the standing, latency and CPU at one level."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from ...race.results.standing import Interval, Level, Row
from .. import figures
from ..charts.bars import axis, interval_bar
from ..charts.scale import linear, logarithmic
from ..charts.split import Part, Role, parts, split_bar
from ..charts.strips import strip

__all__ = ["Bar", "BarsView", "cpu_view", "latency_view", "standing_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One row with its drawing; ``span`` is how many rows its tier has, 0 when it is not the tier's first."""

    row: Row
    drawing: Markup
    span: int = 1
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BarsView:
    """The bars of a section, their axis, and the roles that occur (for a legend)."""

    bars: tuple[Bar, ...]
    axis: Markup
    where: str = ""
    roles: tuple[Role, ...] = ()


def standing_view(level: Level, *, void: bool = False) -> BarsView:
    """Return throughput with its limits, grouped in tiers; of a ``void`` race nobody stands out."""
    rows, leader = level.rows, level.rows[0].throughput_per_s.value
    rates = [_against(row.ratio, leader) for row in rows]
    scale = linear(max(rate.high or rate.value for rate in rates), ticks=3)
    bars = tuple(
        Bar(row=row, span=_span(rows, place),
            drawing=Markup(interval_bar(rate, scale, _rate(row), first=row.tier == 1 and not void)))
        for place, (row, rate) in enumerate(zip(rows, rates, strict=True))
    )  # fmt: skip
    return BarsView(bars=bars, axis=Markup(axis(scale, "/s")), where=level.where)


def latency_view(level: Level) -> BarsView:
    """Return the latency strips on one logarithmic scale."""
    rows = level.rows
    least, most = min(row.latency.p50 for row in rows), max(row.latency.max for row in rows)
    scale = logarithmic(least * 1e3, most * 1e3)
    bars = tuple(Bar(row=row, drawing=Markup(strip(row.latency, scale, _latency(row)))) for row in rows)
    return BarsView(bars=bars, axis=Markup(axis(scale, "ms")), where=level.where)


def cpu_view(level: Level) -> BarsView | None:
    """Return CPU per request split by hop; None when no usage is known."""
    rows = [row for row in level.rows if row.cpu_ms_per_request]
    if not rows:
        return None
    scale = linear(max(sum(row.cpu_ms_per_request.values()) for row in rows))
    split = {row.stack: parts(row.stack, row.cpu_ms_per_request) for row in rows}
    bars = tuple(
        Bar(row=row, parts=split[row.stack], drawing=Markup(split_bar(split[row.stack], scale, row.stack)))
        for row in rows
    )
    occurring = {part.role for split_parts in split.values() for part in split_parts}
    roles = tuple(role for role in Role if role in occurring)
    return BarsView(bars=bars, axis=Markup(axis(scale, "ms")), where=level.where, roles=roles)


def _span(rows: tuple[Row, ...], place: int) -> int:
    tier = rows[place].tier
    if place and rows[place - 1].tier == tier:
        return 0
    return sum(row.tier == tier for row in rows)


def _against(ratio: Interval, leader: float) -> Interval:
    """Return the rate that a ratio and its limits mean beside the leader's."""
    if ratio.low == ratio.high:  # the leader itself
        return Interval(value=leader)
    low, high = (None if limit is None else limit * leader for limit in (ratio.low, ratio.high))
    return Interval(value=ratio.value * leader, low=low, high=high)


def _rate(row: Row) -> str:
    text = figures.ratio_limits(row.ratio)
    limits = f", {figures.ratio(row.ratio)} ({text}) of the leader" if text else ""
    return f"{row.stack}: {figures.number(row.throughput_per_s.value)} requests/s{limits}"


def _latency(row: Row) -> str:
    names = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "longest"}
    quantiles = ", ".join(f"{name} {figures.quantile(row.latency, key)} ms" for key, name in names.items())
    return f"{row.stack}: {quantiles}"
