"""``stackrace compare``: two runs side by side, in words, as tables and as a document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from ..base.numbers import NOTHING, Interval, count, number, percent
from ..base.units import DURATION
from ..measure.engine import saved_run
from ..measure.engine.histogram import Row, edges, rows
from ..measure.engine.saved_run import Comparison, Difference, Line, Saved
from ..report import figures
from ..report.characters import meter
from ..report.exporter import Kind
from ..report.sheet import Column, Paragraph, Section, Table, Tone
from .showing import show_result

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
    runs = saved_run.read_saved(before), saved_run.read_saved(after)
    show_result(_KIND, runs, as_json=as_json)


_BAR = 24

_Runs = tuple[Saved, Saved]


def _sections(runs: _Runs) -> Iterator[Section]:
    before, after = runs
    comparison = saved_run.compare(before, after)
    yield Section(title="", blocks=(
        Paragraph(text=_headline(comparison, before.path.name, after.path.name), tone=Tone.STRONG, whole=True),
        *(Paragraph(text=_difference(each), tone=Tone.DOUBTFUL, whole=True) for each in comparison.differences),
    ))  # fmt: skip
    yield Section(title="", blocks=(_figures(comparison.lines, before.path.name, after.path.name),))
    if upper := edges(before.buckets, after.buckets):
        table = _distributions(rows(before.buckets, upper), rows(after.buckets, upper))
        yield Section(title="", blocks=(table,))
    limits = Paragraph(text=_limits(_ratio(before, after)), tone=Tone.ASIDE, whole=True)
    yield Section(title="", blocks=(limits,))


def _figures(lines: Sequence[Line], before: str, after: str) -> Table:
    def cells(cell: Callable[[Line], str]) -> tuple[str, ...]:
        return tuple(map(cell, lines))

    return Table(columns=(
        Column(title="", cells=cells(_title), left=True),
        Column(title=before, cells=cells(lambda line: _value(line, line.before, line.before_bound))),
        Column(title=after, cells=cells(lambda line: _value(line, line.after, line.after_bound))),
        Column(title="ratio", cells=cells(
            lambda line: NOTHING if line.ratio is None else f"{_bound_sign(line)}{number(line.ratio)}")),
    ))  # fmt: skip


def _value(line: Line, value: float | None, is_bound: bool) -> str:
    if value is None:
        return NOTHING
    written = {
        saved_run.Kind.RATE: lambda rate: f"{number(rate)}/s",
        saved_run.Kind.DURATION: DURATION.format,
        saved_run.Kind.COUNT: count,
    }[line.kind](value)
    return f"≥ {written}" if is_bound else written


def _bound_sign(line: Line) -> str:
    """Return the sign of a ratio: a bound if one of its two values is a lower bound."""
    return "≥ " if line.after_bound else "≤ " if line.before_bound else ""


def _distributions(before: Sequence[Row], after: Sequence[Row]) -> Table:
    most = max(row.share for row in (*before, *after)) or 1.0

    def bars(rows: Sequence[Row]) -> tuple[str, ...]:
        return tuple(meter(row.share / most, _BAR) for row in rows)

    def shares(rows: Sequence[Row]) -> tuple[str, ...]:
        return tuple(percent(row.share) if row.count else "" for row in rows)

    return Table(columns=(
        Column(title="", cells=tuple(f"≤ {DURATION.format(row.edge_s)}" for row in before)),
        Column(title="before", cells=bars(before), least=_BAR, left=True, tone=Tone.OTHER),
        Column(title="", cells=shares(before)),
        Column(title="after", cells=bars(after), least=_BAR, left=True, tone=Tone.GOOD),
        Column(title="", cells=shares(after)),
    ))  # fmt: skip


def _document(runs: _Runs) -> dict[str, object]:
    before, after = runs
    comparison, interval = saved_run.compare(before, after), _ratio(before, after)
    return {
        "schema": "compare-1",
        "before": str(before.path),
        "after": str(after.path),
        "differences": [
            {"what": difference.what, "before": difference.before, "after": difference.after}
            for difference in comparison.differences
        ],
        **{line.name: _line(line) for line in comparison.lines},
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


def _ratio(before: Saved, after: Saved) -> Interval | None:
    """Return the ratio of the throughputs over full bins with rough limits; None if a run is too short."""
    if not before.rates_per_s or not after.rates_per_s:
        return None
    from ..stats.bootstrap import throughput_ratio

    return throughput_ratio(before.rates_per_s, after.rates_per_s)


_CAVEAT = (
    "They cover what varied within the runs, not how two starts of a server or two hours of a machine differ. "
    "To know that, race them: stackrace run."
)

_ONE_RUN = "Two runs do not show how two starts differ. To know that, race them: stackrace run."

_TITLES = {"max": "longest", "cpu_s_per_request": "engine CPU per request"}


def _headline(comparison: Comparison, before: str, after: str) -> str:
    ratio = comparison.lines[0].ratio
    change = "Throughput cannot be compared" if ratio is None else f"Throughput × {number(ratio)}"
    return f"{change}: {before} → {after}"


def _title(line: Line) -> str:
    return _TITLES.get(line.name, line.name)


def _difference(setting: Difference) -> str:
    return f"The loads differ in {setting.what}: {_setting(setting.before)} → {_setting(setting.after)}"


def _limits(ratio: Interval | None) -> str:
    if ratio is None or ratio.low is None or ratio.high is None:
        return f"The runs are too short even for rough limits, which need at least 2 s of answers. {_ONE_RUN}"
    certain = "" if ratio.low > 1 or ratio.high < 1 else ", which includes no difference"
    return f"Rough 95 % limits of the throughput's ratio: {figures.ratio_limits(ratio)}{certain}. {_CAVEAT}"


def _setting(value: object) -> str:
    return "not said" if value is None else json.dumps(value, ensure_ascii=False)


_KIND = Kind(sections=_sections, document=_document)
