"""How one run of the engine is shown."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from ..load.histogram import Bucket, distribution
from ..model.load import Load, LoadResult, Quantiles
from ..model.units import DURATION, SIZE
from ..report.terminal import make_console
from .load_run import Target

__all__ = ["document", "show"]

BAR_WIDTH = 40
ROWS = 14


def document(target: Target, load: Load, result: LoadResult) -> str:
    """Return the run as one JSON document; times are seconds."""
    counts = result.counts
    content = {
        "urls": list(target.urls),
        "concurrency": load.concurrency,
        "keep_alive": load.keep_alive,
        "duration_s": result.duration_s,
        "scheduled": counts.scheduled,
        "ok": counts.ok,
        "non2xx": counts.non2xx,
        "failed": dict(counts.failed),
        "timed_out": counts.timed_out,
        "in_flight": counts.in_flight,
        "unsent": counts.unsent,
        "throughput_per_s": result.throughput_per_s,
        "latency": _quantiles(result.latency),
        "connect": _quantiles(result.connect),
        "bytes_read": result.bytes_read,
        "reconnects": result.reconnects,
        "fairness": result.fairness,
        "dead_time": result.dead_time,
        "cpu_s": result.generator_cpu_s,
        "busiest_thread": result.generator_busy,
        "series": [
            {
                "start_s": bin_.start_s,
                "ok": bin_.ok,
                "errors": bin_.errors,
                "in_flight": bin_.in_flight,
                "p50_s": bin_.p50_s,
                "p99_s": bin_.p99_s,
            }
            for bin_ in result.series
        ],
    }
    return json.dumps(content, indent=2) + "\n"


def show(target: Target, load: Load, result: LoadResult) -> None:
    """Print the run for people: the rate, what went wrong, the latencies and their distribution."""
    console = make_console()
    counts, keep = result.counts, "keep-alive" if load.keep_alive else "a connection per request"
    console.print(Text(f"{result.throughput_per_s:,.0f} requests/s", style="bold"))
    console.print(
        f"{' '.join(target.urls)}: {counts.ok:,} right answers in {DURATION.format(result.duration_s)}, "
        f"{load.concurrency} connections, {keep}, {SIZE.format(float(result.bytes_read))} read",
        soft_wrap=True,
    )
    for line in _troubles(load, result):
        console.print(Text(line, style="yellow"))
    console.print()
    console.print(_latencies(result))
    if result.latency.count:
        console.print()
        console.print(_histogram(distribution(result.histogram)))
    console.print(
        f"\nThe engine used {result.generator_busy:.0%} of its busiest core "
        f"and {_microseconds(result)} per request.",
        style="dim",
    )


def _troubles(load: Load, result: LoadResult) -> list[str]:
    counts = result.counts
    named = {
        "answers with a status that is no success": counts.non2xx,
        **{f"failures at the stage {stage}": number for stage, number in counts.failed.items()},
        "requests given up after the timeout": counts.timed_out,
        "requests unanswered at the end": counts.in_flight if load.requests is not None else 0,
        "requests never sent": counts.unsent,
    }
    lines = [f"{number:,} {what}" for what, number in named.items() if number]
    if load.keep_alive and result.reconnects:
        lines.append(f"the server closed {result.reconnects:,} connections that were to be kept")
    if result.generator_busy > 0.85:
        lines.append("the engine was the limit: the server can do at least this much")
    return lines


def _quantiles(latency: Quantiles) -> dict[str, object]:
    return {
        "count": latency.count,
        "mean": latency.mean,
        "p50": latency.p50,
        "p90": latency.p90,
        "p99": latency.p99,
        "p99.9": latency.p999,
        "max": latency.max,
        "censored": sorted(name.replace("p999", "p99.9") for name in latency.censored),
    }


def _latencies(result: LoadResult) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    columns = ("mean", "p50", "p90", "p99", "p999", "max")
    for name in columns:
        table.add_column("p99.9" if name == "p999" else "longest" if name == "max" else name, justify="right")
    for title, latency in (("latency", result.latency), ("connecting", result.connect)):
        if latency.count:
            table.add_row(title, *(_value(latency, name) for name in columns))
    return table


def _value(latency: Quantiles, name: str) -> str:
    bound = "≥ " if name in latency.censored else ""
    return bound + DURATION.format(getattr(latency, name))


def _histogram(buckets: Sequence[Bucket]) -> Table:
    """Draw the distribution over logarithmic steps from its fastest to its slowest answer."""
    low, high = max(buckets[0].value_s, 1e-6), max(buckets[-1].value_s, 2e-6)
    ratio = max((high / low) ** (1 / ROWS), 1.02)
    edges = [low * ratio**step for step in range(1, ROWS + 1)]
    counts = [0] * ROWS
    for bucket in buckets:
        row = next((index for index, edge in enumerate(edges) if bucket.value_s <= edge), ROWS - 1)
        counts[row] += bucket.count
    most, total = max(counts), sum(counts)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right")
    table.add_column()
    table.add_column(justify="right")
    for edge, number in zip(edges, counts, strict=True):
        bar = "█" * round(BAR_WIDTH * number / most) or ("▏" if number else "")
        table.add_row(f"≤ {DURATION.format(edge)}", bar, f"{number / total:.1%}" if number else "")
    return table


def _microseconds(result: LoadResult) -> str:
    answered = result.counts.ok + result.counts.non2xx
    return DURATION.format(result.generator_cpu_s / answered) if answered else "no CPU"
