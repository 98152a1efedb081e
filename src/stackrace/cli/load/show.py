"""How one run of the engine is shown: the rate, what went wrong, what to doubt, the latencies, the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ...base.numbers import NOTHING, count, percent
from ...base.text import one_line
from ...base.units import DURATION
from ...measure.engine.histogram import Row, censored_count, distribution, edges, rows
from ...measure.engine.load_run import FinishedRun
from ...measure.load import LoadResult, Quantiles, TargetResult
from ...report.characters import meter, sparkline
from ...report.figures import timed
from ...report.load_document import document
from ...report.words import load_run as words
from ..showing import print_document, print_parts

_BIN_S = 0.1


def show(ran: FinishedRun, *, as_json: bool) -> None:
    """Print the run on stdout: for people, or as the JSON document."""
    if as_json:
        print_document(document(ran))
        return
    print_parts(_parts(ran))


def _parts(ran: FinishedRun) -> Iterator[RenderableType]:
    result = ran.result
    yield Text(words.headline(ran), style="bold")
    yield Text(one_line(words.accounting(ran)))
    yield from (_bad(line) for line in words.failures(ran))
    if result.counts.ok:
        yield from (_doubtful(words.warning(finding)) for finding in ran.verdict.findings)
    yield from (_doubtful(note) for note in ran.notes)
    if result.latency.count:
        yield Text()
        yield _latencies(result, is_open=ran.load.is_open)
        if bounds := censored_count(result.histogram):
            were = "1 request was" if bounds == 1 else f"{count(bounds)} requests were"
            yield Text(f"≥ may be longer: {were} unfinished when the run ended or gave them up.")
    if len(result.targets) > 1:
        yield Text()
        yield _targets(result.targets)
    if result.latency.count:
        buckets = distribution(result.histogram)
        yield Text()
        yield _distribution(rows(buckets, edges(buckets)))
    yield from _over_time(result)
    yield Text()
    yield from (Text(line, style="dim") for line in words.engine(ran))


def _over_time(result: LoadResult) -> Iterator[Text]:
    rates = [piece.ok / _BIN_S for piece in result.series]
    if len(rates) < 2:
        return
    # the last bin may be cut off by the end
    whole = rates[:-1] if result.series[-1].start_s + _BIN_S > result.duration_s * (1 + 1e-9) else rates
    yield Text()
    yield Text.assemble("over time  ", (sparkline(rates), "cyan"), f"  {count(min(whole))}–{count(max(whole))}/s")
    errors = [float(piece.errors) for piece in result.series]
    if any(errors):
        yield Text.assemble("errors     ", (sparkline(errors), "red"), f"  up to {count(max(errors))} per 100 ms")


def _bad(line: str) -> Text:
    return Text(one_line(line), style="red")


def _doubtful(line: str) -> Text:
    return Text(one_line(line), style="yellow")


_COLUMNS = {"mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "longest"}
_TARGET_COLUMNS = ("mean", "p50", "p99", "max")
_MOST_TARGETS = 20
_BAR_WIDTH = 40


def _latencies(result: LoadResult, *, is_open: bool) -> Table:
    """Return the latency and what it is made of, row by row; "≥" marks lower bounds.

    In a closed loop no request can be late: there lag is left out.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for title in _COLUMNS.values():
        table.add_column(title, justify="right")
    for name, latency in _latencies_by_part(result, is_open):
        style = "bold" if name == "latency" else None
        table.add_row(name, *(timed(latency, column) for column in _COLUMNS), style=style)
    return table


def _targets(results: tuple[TargetResult, ...]) -> Table:
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


def _latencies_by_part(result: LoadResult, is_open: bool) -> Iterator[tuple[str, Quantiles]]:
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


def _distribution(rows: Sequence[Row]) -> Table:
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
