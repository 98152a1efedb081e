"""``stackrace compare``: two runs beside each other, in words, as tables and as a document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ..api.load.comparison import ComparedRuns
from ..base.numbers import NOTHING, Interval, count, number, percent
from ..base.text import one_line
from ..base.units import DURATION
from ..measure.engine.histogram import Row, edges, rows
from ..measure.engine.saved_run import Comparison, Difference, Kind, Line
from ..report import figures
from ..report.characters import meter
from .showing import print_document, print_parts

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    epilog="""\b
Examples:
  stackrace load http://127.0.0.1:8000/ -c 20 -d 30s --json > before.json
  stackrace load http://127.0.0.1:8000/ -c 20 -d 30s --json > after.json
  stackrace compare before.json after.json
  stackrace compare before.json after.json --json | jq .throughput.ratio"""
)
@click.argument("before", type=_FILE, metavar="A.json")
@click.argument("after", type=_FILE, metavar="B.json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(before: Path, after: Path, as_json: bool) -> None:
    """Compare two runs of `stackrace load --json`.

    Two runs do not show how much two starts of a server, or two hours of a machine, differ. To compare deployments,
    race them: stackrace run.
    """
    from ..api.load.comparison import compare_runs

    _show(compare_runs(before, after), as_json=as_json)


_BAR = 24


def _show(compared: ComparedRuns, *, as_json: bool) -> None:
    """Print on stdout: for people, or as one JSON document."""
    if as_json:
        print_document(_document(compared))
        return
    print_parts(_parts(compared))


def _parts(compared: ComparedRuns) -> Iterator[RenderableType]:
    names = (compared.before.path.name, compared.after.path.name)
    yield Text(one_line(_headline(compared.comparison, *names)), style="bold")
    for difference in compared.comparison.differences:
        yield Text(one_line(_difference(difference)), style="yellow")
    yield Text()
    yield _table(compared)
    upper = edges(compared.before.buckets, compared.after.buckets)
    if upper:
        yield Text()
        yield _distributions(rows(compared.before.buckets, upper), rows(compared.after.buckets, upper))
    yield Text()
    yield Text(_limits(compared.limits), style="dim")


def _table(compared: ComparedRuns) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for title in (one_line(compared.before.path.name), one_line(compared.after.path.name), "ratio"):
        table.add_column(title, justify="right")
    for line in compared.comparison.lines:
        table.add_row(
            _title(line),
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


_CAVEAT = (
    "They cover what varied within the runs, not how two starts of a server or two hours of a machine differ. "
    "To know that, race them: stackrace run."
)

_ONE_RUN = "Two runs do not show how two starts differ. To know that, race them: stackrace run."

_TITLES = {"max": "longest", "cpu_s_per_request": "engine CPU per request"}


def _headline(comparison: Comparison, before: str, after: str) -> str:
    """Say by how much the throughput changed from the run ``before`` to the run ``after``."""
    ratio = comparison.lines[0].ratio
    change = "Throughput cannot be compared" if ratio is None else f"Throughput × {number(ratio)}"
    return f"{change}: {before} → {after}"


def _title(line: Line) -> str:
    """Name a figure."""
    return _TITLES.get(line.name, line.name)


def _difference(setting: Difference) -> str:
    """Say in what the loads themselves differ."""
    return f"The loads differ in {setting.what}: {_setting(setting.before)} → {_setting(setting.after)}"


def _limits(ratio: Interval | None) -> str:
    """Say how sure the ratio of the throughputs is, and what it does not cover."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return f"The runs are too short even for rough limits, which need at least 2 s of answers. {_ONE_RUN}"
    certain = "" if ratio.low > 1 or ratio.high < 1 else ", which includes no difference"
    return f"Rough 95 % limits of the throughput's ratio: {figures.ratio_limits(ratio)}{certain}. {_CAVEAT}"


def _setting(value: object) -> str:
    return "not said" if value is None else json.dumps(value, ensure_ascii=False)
