"""How two runs are shown beside each other."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ...api.load.comparison import ComparedRuns
from ...base.numbers import NOTHING, count, number, percent
from ...base.text import one_line
from ...base.units import DURATION
from ...measure.engine.histogram import Row, edges, rows
from ...measure.engine.saved_run import Kind, Line
from ...report.characters import meter
from ...report.words import load_comparison as words
from ..showing import print_document, print_parts

__all__ = ["show"]

_BAR = 24


def show(compared: ComparedRuns, *, as_json: bool) -> None:
    """Print on stdout: for people, or as one JSON document."""
    if as_json:
        print_document(_document(compared))
        return
    print_parts(_parts(compared))


def _parts(compared: ComparedRuns) -> Iterator[RenderableType]:
    names = (compared.before.path.name, compared.after.path.name)
    yield Text(one_line(words.headline(compared.comparison, *names)), style="bold")
    for difference in compared.comparison.differences:
        yield Text(one_line(words.difference(difference)), style="yellow")
    yield Text()
    yield _table(compared)
    upper = edges(compared.before.buckets, compared.after.buckets)
    if upper:
        yield Text()
        yield _distributions(rows(compared.before.buckets, upper), rows(compared.after.buckets, upper))
    yield Text()
    yield Text(words.limits(compared.limits), style="dim")


def _table(compared: ComparedRuns) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for title in (one_line(compared.before.path.name), one_line(compared.after.path.name), "ratio"):
        table.add_column(title, justify="right")
    for line in compared.comparison.lines:
        table.add_row(
            words.title(line),
            _value(line, line.before, line.before_bound),
            _value(line, line.after, line.after_bound),
            NOTHING if line.ratio is None else f"{_bound(line)}{number(line.ratio)}",
        )
    return table


def _value(line: Line, value: float | None, is_bound: bool) -> str:
    if value is None:
        return NOTHING
    written = {
        Kind.RATE: lambda rate: f"{number(rate)}/s",
        Kind.DURATION: DURATION.format,
        Kind.COUNT: count,
    }[line.kind](value)
    return f"≥ {written}" if is_bound else written


def _bound(line: Line) -> str:
    """A ratio with a lower bound above is one, with one below an upper bound."""
    return "≥ " if line.after_bound else "≤ " if line.before_bound else ""


def _distributions(before: tuple[Row, ...], after: tuple[Row, ...]) -> Table:
    most = max(row.share for row in (*before, *after)) or 1.0
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title, width in (("", 0), ("before", _BAR), ("", 0), ("after", _BAR), ("", 0)):
        table.add_column(title, justify="left" if width else "right", min_width=width or None, no_wrap=True)
    for row_before, row_after in zip(before, after, strict=True):
        table.add_row(
            f"≤ {DURATION.format(row_before.edge_s)}",
            Text(meter(row_before.share / most, _BAR), style="cyan"),
            percent(row_before.share) if row_before.count else "",
            Text(meter(row_after.share / most, _BAR), style="green"),
            percent(row_after.share) if row_after.count else "",
        )
    return table


def _document(compared: ComparedRuns) -> dict[str, object]:
    interval = compared.limits
    return {
        "schema": "compare-1",
        "before": str(compared.before.path),
        "after": str(compared.after.path),
        "differences": [
            {"what": difference.what, "before": difference.before, "after": difference.after}
            for difference in compared.comparison.differences
        ],
        **{line.name: _line(line) for line in compared.comparison.lines},
        "throughput_ratio_low": None if interval is None else interval.low,
        "throughput_ratio_high": None if interval is None else interval.high,
    }


def _line(line: Line) -> dict[str, object]:
    return {
        "before": line.before,
        "after": line.after,
        "ratio": line.ratio,
        "before_is_bound": line.before_bound,
        "after_is_bound": line.after_bound,
    }
