"""The latencies of one run as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from ...base.numbers import NOTHING, count, percent
from ...base.text import one_line
from ...base.units import DURATION
from ...measure.engine.histogram import Row
from ...measure.load import LoadResult, Quantiles, TargetResult
from ...report.characters import meter
from ...report.figures import timed

__all__ = ["distribution", "latencies", "targets"]

_COLUMNS = {"mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "longest"}
_TARGET_COLUMNS = ("mean", "p50", "p99", "max")
_MOST_TARGETS = 20
_BAR_WIDTH = 40


def latencies(result: LoadResult, *, is_open: bool) -> Table:
    """Return the latency and what it is made of, row by row; "≥" marks lower bounds.

    In a closed loop no request can be late: there lag is left out.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for title in _COLUMNS.values():
        table.add_column(title, justify="right")
    for name, latency in _parts(result, is_open):
        style = "bold" if name == "latency" else None
        table.add_row(name, *(timed(latency, column) for column in _COLUMNS), style=style)
    return table


def targets(results: tuple[TargetResult, ...]) -> Table:
    """Return one row per target, the first ``_MOST_TARGETS`` of them, and a row that sums up the others."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", overflow="ellipsis", max_width=60, no_wrap=True)
    for title in ("right", "errors", *(_COLUMNS[column] for column in _TARGET_COLUMNS)):
        table.add_column(title, justify="right")
    for target in results[:_MOST_TARGETS]:
        known = target.counts.ok or target.latency.censored
        quantiles = (timed(target.latency, column) if known else NOTHING for column in _TARGET_COLUMNS)
        table.add_row(one_line(target.name), count(target.counts.ok), count(target.counts.errors), *quantiles)
    if others := results[_MOST_TARGETS:]:
        right, wrong = sum(target.counts.ok for target in others), sum(target.counts.errors for target in others)
        table.add_row(f"… and {len(others)} more", count(right), count(wrong), *[""] * len(_TARGET_COLUMNS))
    return table


def _parts(result: LoadResult, is_open: bool) -> Iterator[tuple[str, Quantiles]]:
    named = {
        "latency": result.latency,
        "service": result.service,
        "lag": result.lag if is_open else None,
        "connecting": result.connect,
        "TLS handshake": result.tls,
        "pages": result.pages,
    }
    for name, latency in named.items():
        if latency is not None and latency.count:
            yield name, latency


def distribution(rows: Sequence[Row]) -> Table:
    """Return one line per row: its upper edge, a bar, its share, and the share of all up to its edge."""
    most = max((row.share for row in rows), default=0.0) or 1.0
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("", min_width=_BAR_WIDTH, style="cyan", no_wrap=True)
    table.add_column("share", justify="right")
    table.add_column("up to here", justify="right", style="dim")
    for row in rows:
        share = percent(row.share) if row.count else ""
        table.add_row(
            f"≤ {DURATION.format(row.edge_s)}",
            meter(row.share / most, _BAR_WIDTH),
            share,
            _cumulative(row.cumulative),
        )
    return table


def _cumulative(share: float) -> str:
    """Only what is all of them is 100 %."""
    return "100 %" if share >= 1 else f"{100 * min(share, 0.99999):.{3 if share > 0.999 else 1}f} %"
