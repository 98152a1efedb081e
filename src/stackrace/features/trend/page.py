"""A trend as one self-contained page, in the style of the races' own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from ...base.numbers import number
from ...report.charts.panel import Frame, Point
from ...report.charts.svg import Scale, linear
from ...report.html.page import draw_page
from ...report.html.panels import Multiple, Panel
from ...report.sheet import Section
from . import words
from .model import Measure, Trend, TrendPoint, TrendSeries

_UNITS = {Measure.THROUGHPUT: "requests/s", Measure.P99: "ms", Measure.CPU: "ms", Measure.MEMORY: "MiB"}
_FACTORS = {Measure.P99: 1e3, Measure.MEMORY: 1 / 2**20}
"""From what is measured to what is drawn."""


def page(trend: Trend, lists: Sequence[Section], checks: Section | None) -> str:
    """Return the whole page: ``lists`` of what changed, the course of each series, and ``checks``."""
    return draw_page(
        "trend.html.j2", Path(__file__).parent,
        trend=trend, words=words, multiples=list(_multiples(trend)), lists=lists, checks=checks,
    )  # fmt: skip


def _multiples(trend: Trend) -> Iterator[Multiple]:
    for measure in Measure:
        panels = [(series, points) for series in trend.series if len(points := _points(series, measure)) > 1]
        if panels:
            yield Multiple(
                title=measure.value[0].upper() + measure.value[1:],
                words=f"{_UNITS[measure]}, race by race; vertical lines mark changes, whiskers are a race's limits",
                shared=Markup(""),
                panels=tuple(_panel(series, measure, points) for series, points in panels),
            )


def _points(series: TrendSeries, measure: Measure) -> list[Point]:
    return [_point(place, point, measure) for place, point in enumerate(series.points) if measure in point.values]


def _point(place: int, point: TrendPoint, measure: Measure) -> Point:
    known, factor = point.values[measure], _FACTORS.get(measure, 1)
    low, high = (None if limit is None else limit * factor for limit in (known.low, known.high))
    return Point(x=place, y=known.value * factor, low=low, high=high)


def _panel(series: TrendSeries, measure: Measure, points: list[Point]) -> Panel:
    last = len(series.points) - 1
    ends = ((0.0, series.points[0].started_at[:10]), (float(last), series.points[-1].started_at[:10]))
    frame = Frame(
        x=Scale(low=0, high=max(last, 1), ticks=()),
        y=linear(max(point.high or point.y for point in points), ticks=3),
        x_labels=ends,
    )
    changes = [change for change in series.changes if change.measure is measure]
    inside = "".join(frame.mark(change.at - 0.5) for change in changes) + frame.marks(points)
    inside += frame.note(points[-1].x, points[-1].high or points[-1].y, number(points[-1].y))
    description = "; ".join(f"{series.points[int(p.x)].started_at[:10]}: {number(p.y)}" for p in points)
    where = words.where(series)
    return Panel(
        stack=series.key.stack,
        drawing=Markup(frame.panel(inside, f"{where}: {measure.value}", description)),
        words=f"{series.key.load}, {series.key.workload}, {series.key.host}",
    )
