"""A trend as a kind of result: changes, outliers, the course of each stack; its document and page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from markupsafe import Markup

from ...base.codec import FLAT, LEFT_OUT, Form, readable, schema_text
from ...base.numbers import number
from ...race.results.comparison import Comparison, Outcome, Response
from ...report.characters import course
from ...report.exporter import Kind
from ...report.html.frame import Frame, Point
from ...report.html.panels import Multiple, Panel
from ...report.html.svg import Scale, linear
from ...report.openmetrics import metric, whole_text
from ...report.sheet import Column, Item, Listing, Medium, Notes, Paragraph, Section, Table, Tone
from . import words
from .model import Measure, Trend, TrendCheck, TrendPoint, TrendSeries

_MOST_BARS = 24

_RESPONSES = (
    (Response.THROUGHPUT, "throughput", 9),
    (Response.CPU, "CPU per request", 8),
    (Response.P99, "p99", 7),
    (Response.MEMORY, "memory", 6),
)
"""Columns for a check: the response, its title, and its rank on a narrow screen, the highest the last to go."""

_OUTCOMES = {Outcome.PASSED: Tone.GOOD, Outcome.FAILED: Tone.WRONG, Outcome.REFUSED: Tone.DOUBTFUL}


def _sections(trend: Trend) -> Iterator[Section]:
    yield Section(title=f"Trend of {trend.project}", main=True, blocks=(
        Paragraph(text=words.headline(trend), tone=Tone.STRONG),
        Paragraph(text=words.about(trend), tone=Tone.ASIDE),
    ))  # fmt: skip
    yield Section(title="", drawn="multiples.html.j2", media=(Medium.PAGE,))
    if changes := list(_changes(trend)):
        yield Section(title="Changes", blocks=(Listing(items=tuple(changes)),))
    if unlike := list(_unlike(trend)):
        yield Section(title="The last race differs", blocks=(Listing(items=tuple(unlike)),))
    for host, series in _by_host(trend).items():
        yield Section(title=f"On {host}", blocks=(_table(series),))
    if trend.checks:
        yield _checks_section(trend.checks)
    texts = tuple(filter(None, (words.left_out(trend), *words.notes(trend))))
    yield Section(title="", blocks=(Notes(texts=texts),))


def _changes(trend: Trend) -> Iterator[Item]:
    for series in trend.series:
        for change in series.changes:
            tone = Tone.WRONG if change.is_worse else Tone.GOOD
            yield Item(lead=words.where(series), text=words.change(series, change), tone=tone)


def _unlike(trend: Trend) -> Iterator[Item]:
    for series in trend.series:
        for measure, ratio in series.unlike.items():
            yield Item(lead=words.where(series), text=words.unlike(series, measure, ratio), tone=Tone.DOUBTFUL)


def _by_host(trend: Trend) -> dict[str, list[TrendSeries]]:
    hosts: dict[str, list[TrendSeries]] = {}
    for series in trend.series:
        hosts.setdefault(series.key.host, []).append(series)
    return hosts


def _table(series: list[TrendSeries]) -> Table:
    latest = [each.points[-1] for each in series]
    figures = (
        Column(title=f"{measure.value}, last", short=measure.value,
               cells=tuple(words.figure(point, measure) for point in latest), keep=keep)
        for measure, keep in zip(Measure, (9, 6, 5, 4), strict=True)
    )  # fmt: skip
    return Table(columns=(
        Column(title="stack", cells=tuple(each.key.stack for each in series), left=True, fold_to=24),
        Column(title="at", cells=tuple(each.key.load for each in series), left=True),
        Column(title="pages", cells=tuple(each.key.workload for each in series), left=True, keep=1),
        Column(title="races", cells=tuple(str(len(each.points)) for each in series)),
        Column(title="course", cells=tuple(map(_course, series)), left=True, keep=8, media=(Medium.SCREEN,)),
        *figures,
        Column(title="since", cells=tuple(each.points[0].started_at[:10] for each in series), left=True, keep=2),
    ))  # fmt: skip


def _checks_section(checks: Sequence[TrendCheck]) -> Section:
    changes = (
        Column(title=title, cells=tuple(check.said.changes.get(response, "") for check in checks), keep=keep)
        for response, title, keep in _RESPONSES
    )
    table = Table(columns=(
        Column(title="on", cells=tuple(check.started_at[:10] for check in checks), left=True),
        Column(title="race", cells=tuple(check.race for check in checks), left=True, keep=3),
        Column(title="base", cells=tuple(check.said.base for check in checks), left=True),
        Column(title="head", cells=tuple(check.said.head for check in checks), left=True),
        Column(title="answer", cells=tuple(check.said.outcome.value for check in checks), left=True,
               tones=tuple(_OUTCOMES.get(check.said.outcome, Tone.PLAIN) for check in checks)),
        *changes,
        Column(title="stack", cells=tuple(check.said.stack for check in checks), left=True, fold_to=20, keep=2),
    ))  # fmt: skip
    about = "Each check compares two versions in one race, so these figures do not depend on the day."
    return Section(title="Checks: head against base", blocks=(Paragraph(text=about, media=(Medium.PAGE,)), table))


_METRICS = {
    Measure.THROUGHPUT: ("throughput", "Right answers per second."),
    Measure.P99: ("p99_seconds", "99 % of the requests take at most this."),
    Measure.CPU: ("cpu_milliseconds", "CPU time per request, all hops together."),
    Measure.MEMORY: ("memory_bytes", "Memory at the peak, all hops together."),
}
"""Names of the measures as metrics, with their descriptions."""


def openmetrics(trend: Trend) -> str:
    """Return the OpenMetrics text of the last race of each series."""
    lines: list[str] = []
    for measure, (name, about) in _METRICS.items():
        samples = [(_labels(trend, each), each.points[-1].values.get(measure)) for each in trend.series]
        known = [(labels, None if value is None else value.value) for labels, value in samples]
        unit = name.partition("_")[2]
        lines += metric(f"trend_{name}", about, known, unit=unit)
    return whole_text(lines)


def _labels(trend: Trend, series: TrendSeries) -> dict[str, str]:
    key = series.key
    return {
        "project": trend.project, "stack": key.stack, "workload": key.workload, "load": key.load, "host": key.host
    }  # fmt: skip


def _course(series: TrendSeries) -> str:
    values = [p.values[Measure.THROUGHPUT].value for p in series.points if Measure.THROUGHPUT in p.values]
    return course(values[-_MOST_BARS:], max(values, default=0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendDocument:
    """A project's races over time, as `stackrace trend --json` prints it. Unknown values are null.

    Ratios are of the values after a change to those before.
    """

    format: Literal["stackrace-trend"] = "stackrace-trend"
    """Name of the format."""
    version: Literal[1] = 1
    """Version of the format."""
    headline: str
    """The changes in a sentence."""
    trend: Trend


_FORM = Form(
    record=TrendDocument,
    name="trend-1",
    names={TrendDocument: {"trend": FLAT}, TrendCheck: {"said": FLAT}, Comparison: {"changes": LEFT_OUT}},
)

schema = partial(schema_text, _FORM)


def _document(trend: Trend) -> dict[str, Any]:
    return readable(TrendDocument(headline=words.headline(trend), trend=trend), _FORM)


_UNITS = {Measure.THROUGHPUT: "requests/s", Measure.P99: "ms", Measure.CPU: "ms", Measure.MEMORY: "MiB"}
_FACTORS = {Measure.P99: 1e3, Measure.MEMORY: 1 / 2**20}


def _multiples(trend: Trend) -> Iterator[Multiple]:
    for measure in Measure:
        panels = [(series, points) for series in trend.series if len(points := _points(series, measure)) > 1]
        if panels:
            yield Multiple(
                title=measure.value[0].upper() + measure.value[1:],
                words=f"{_UNITS[measure]}, race by race; vertical lines mark changes, whiskers are a race's limits",
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


KIND = Kind(
    sections=_sections,
    document=_document,
    drawings=lambda trend: {"multiples": tuple(_multiples(trend))},
    headings="##",
)
