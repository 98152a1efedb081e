"""One run of the load engine as a kind of result: the rate, the failures, the doubts, the latencies.

``stackrace load --schema`` prints what the members of its JSON document mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ..base.codec import FLAT, LEFT_OUT, Form, readable, schema_text
from ..base.numbers import NOTHING, count, percent
from ..base.units import DURATION
from ..measure.engine.histogram import Row, censored_count, distribution, edges, rows
from ..measure.engine.load_run import FinishedRun
from ..measure.load import Load, LoadResult, Quantiles, TargetResult
from .characters import meter, sparkline
from .exporter import Kind
from .figures import timed
from .sheet import Block, Column, Drawing, Paragraph, Section, Table, Tone
from .words import load_sentences as words
from .words.findings import LOAD, FindingDocument, finding_document


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """Settings of the run."""

    loop: Literal["open", "closed"]
    """Kind of loop: ``open`` sends requests at a rate, ``closed`` after the last answer."""
    load: Load
    seed: int | None
    """Seed of the random moments; null if there are none."""
    warmup_s: float
    """Seconds of load before the recorded window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadDocument:
    """One run of the load engine, as `stackrace load --json` prints it.

    Times are seconds; unknown values are null.
    """

    schema: Literal["load-1"] = "load-1"
    """Name and version of this format."""
    urls: tuple[str, ...]
    """URLs as given, or the recording's server."""
    load: LoadSettings
    """Settings of the engine."""
    concurrency: int
    """Number of connections; same as load.concurrency."""
    keep_alive: bool
    """True if connections carried more than one request; same as load.keep_alive."""
    throughput_per_s: float
    """Right answers per second."""
    result: LoadResult
    findings: tuple[FindingDocument, ...]
    """Findings of the checks; empty if there is no doubt."""
    notes: tuple[str, ...]
    """Further notes, one sentence each."""


_FORM = Form(
    record=LoadDocument,
    name="load-1",
    names={
        Load: {"seed": LEFT_OUT},
        LoadSettings: {"load": FLAT},
        LoadDocument: {"result": FLAT},
        Quantiles: {"p999": "p99.9"},
        TargetResult: {"counts": FLAT},
        LoadResult: {
            "started_at": LEFT_OUT,
            "counts": FLAT,
            "generator_cpu_s": "cpu_s",
            "generator_spin_s": "spin_s",
            "generator_wait_s": "wait_s",
            "generator_busy": "busiest_thread",
        },
    },
    in_sets={"p999": "p99.9"},
    finite=True,
)

schema = partial(schema_text, _FORM)


def document(ran: FinishedRun) -> dict[str, Any]:
    """Return the document of ``ran`` as plain JSON values."""
    return readable(_document(ran), _FORM)


def _document(ran: FinishedRun) -> LoadDocument:
    load, result = ran.load, ran.result
    return LoadDocument(
        urls=ran.target.urls,
        load=LoadSettings(
            loop="open" if load.is_open else "closed",
            load=load,
            seed=load.seed if load.poisson else None,
            warmup_s=ran.warmup_s,
        ),
        concurrency=load.concurrency,
        keep_alive=load.keep_alive,
        throughput_per_s=result.throughput_per_s,
        result=result,
        findings=tuple(finding_document(finding, LOAD) for finding in ran.verdict.findings),
        notes=ran.notes,
    )


_BIN_S = 0.1
_COLUMNS = {"mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "longest"}
_TARGET_COLUMNS = ("mean", "p50", "p99", "max")
_MOST_TARGETS = 20
_LONGEST_TARGET = 60
_BAR_WIDTH = 40


def _sections(ran: FinishedRun) -> Iterator[Section]:
    result = ran.result
    yield Section(title="", blocks=tuple(_outcome(ran)))
    if result.latency.count:
        yield Section(title="", blocks=tuple(_latencies(result, is_open=ran.load.is_open)))
    if len(result.targets) > 1:
        yield Section(title="", blocks=(_targets(result.targets),))
    if result.latency.count:
        buckets = distribution(result.histogram)
        yield Section(title="", blocks=(_distribution(rows(buckets, edges(buckets))),))
    if len(result.series) > 1:
        yield Section(title="", blocks=(Drawing(lines=tuple(_over_time(result))),))
    engine = (Paragraph(text=text, tone=Tone.ASIDE, whole=True) for text in words.engine(ran))
    yield Section(title="", blocks=tuple(engine))


def _outcome(ran: FinishedRun) -> Iterator[Paragraph]:
    yield Paragraph(text=words.headline(ran), tone=Tone.STRONG, whole=True)
    yield Paragraph(text=words.accounting(ran), whole=True)
    yield from (Paragraph(text=text, tone=Tone.WRONG, whole=True) for text in words.failures(ran))
    doubts = [words.warning(finding) for finding in ran.verdict.findings] if ran.result.counts.ok else []
    yield from (Paragraph(text=text, tone=Tone.DOUBTFUL, whole=True) for text in (*doubts, *ran.notes))


def _latencies(result: LoadResult, *, is_open: bool) -> Iterator[Block]:
    """Yield the latency and its parts, row by row; "≥" marks lower bounds.

    In a closed loop no request can be late, so lag is left out.
    """
    named = {
        "latency": result.latency,
        "service": result.service,
        "lag": result.lag if is_open else None,
        "connecting": result.connect,
        "TLS handshake": result.tls,
        "pages": result.pages,
    }
    parts = {name: latency for name, latency in named.items() if latency is not None and latency.count}
    tones = tuple(Tone.STRONG if name == "latency" else Tone.PLAIN for name in parts)
    yield Table(columns=(
        Column(title="", cells=tuple(parts), tones=tones, left=True),
        *(Column(title=title, tones=tones, cells=tuple(timed(latency, name) for latency in parts.values()))
          for name, title in _COLUMNS.items()),
    ))  # fmt: skip
    if bounds := censored_count(result.histogram):
        were = "1 request was" if bounds == 1 else f"{count(bounds)} requests were"
        yield Paragraph(text=f"≥ may be longer: {were} unfinished when the run ended or gave them up.", whole=True)


def _targets(results: Sequence[TargetResult]) -> Table:
    """Return a row for each target, the first ``_MOST_TARGETS`` of them, and one that sums up the others."""
    shown, others = results[:_MOST_TARGETS], results[_MOST_TARGETS:]

    def quantiles(name: str) -> Iterator[str]:
        for target in shown:
            yield timed(target.latency, name) if target.counts.ok or target.latency.censored else NOTHING
        yield from [""] * bool(others)

    def sums(numbers: Sequence[int]) -> tuple[str, ...]:
        return (*map(count, numbers[:_MOST_TARGETS]), *([count(sum(numbers[_MOST_TARGETS:]))] * bool(others)))

    more = [f"… and {len(others)} more"] if others else []
    return Table(columns=(
        Column(title="", cells=(*(_shortened(target.name) for target in shown), *more), left=True),
        Column(title="right", cells=sums([target.counts.ok for target in results])),
        Column(title="errors", cells=sums([target.counts.errors for target in results])),
        *(Column(title=_COLUMNS[name], cells=tuple(quantiles(name))) for name in _TARGET_COLUMNS),
    ))  # fmt: skip


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_TARGET else f"{name[: _LONGEST_TARGET - 1]}…"


def _distribution(rows: Sequence[Row]) -> Table:
    """Return a line for each row: its upper edge, a bar, its share, and the share of all up to its edge."""
    most = max((row.share for row in rows), default=0.0) or 1.0
    return Table(columns=(
        Column(title="", cells=tuple(f"≤ {DURATION.format(row.edge_s)}" for row in rows)),
        Column(title="", cells=tuple(meter(row.share / most, _BAR_WIDTH) for row in rows), left=True,
               tone=Tone.OTHER),
        Column(title="share", cells=tuple(percent(row.share) if row.count else "" for row in rows)),
        Column(title="up to here", cells=tuple(_cumulative(row.cumulative) for row in rows), tone=Tone.ASIDE),
    ))  # fmt: skip


def _cumulative(share: float) -> str:
    return "100 %" if share >= 1 else f"{100 * min(share, 0.99999):.{3 if share > 0.999 else 1}f} %"


def _over_time(result: LoadResult) -> Iterator[str]:
    rates = [piece.ok / _BIN_S for piece in result.series]
    # the last bin may be cut off by the end
    whole = rates[:-1] if result.series[-1].start_s + _BIN_S > result.duration_s * (1 + 1e-9) else rates
    yield f"over time  {sparkline(rates)}  {count(min(whole))}–{count(max(whole))}/s"
    errors = [float(piece.errors) for piece in result.series]
    if any(errors):
        yield f"errors     {sparkline(errors)}  up to {count(max(errors))} per 100 ms"


KIND = Kind(sections=_sections, document=document)
"""A run of the engine."""
