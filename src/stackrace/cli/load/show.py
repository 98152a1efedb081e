"""How one run of the engine is shown: the rate, what went wrong, what to doubt, the latencies, the engine."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from ...base.numbers import count
from ...base.text import one_line
from ...measure.engine.histogram import censored_count, edges, rows
from ...measure.engine.histogram import distribution as buckets_of
from ...measure.engine.load_run import FinishedRun
from ...measure.load import LoadResult
from ...report.characters import sparkline
from ...report.load_document import document
from ...report.words import load_run as words
from ..showing import print_document, print_parts
from .tables import distribution, latencies, targets

__all__ = ["show"]

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
        yield latencies(result, is_open=ran.load.is_open)
        if bounds := censored_count(result.histogram):
            were = "1 request was" if bounds == 1 else f"{count(bounds)} requests were"
            yield Text(f"≥ may be longer: {were} unfinished when the run ended or gave them up.")
    if len(result.targets) > 1:
        yield Text()
        yield targets(result.targets)
    if result.latency.count:
        buckets = buckets_of(result.histogram)
        yield Text()
        yield distribution(rows(buckets, edges(buckets)))
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
