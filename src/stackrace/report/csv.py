"""Export as CSV: one row per slice, in order of time; units are in the column names."""

from __future__ import annotations

import csv
import io

from ..base.text import one_line
from ..base.verdict import Effect
from ..measure.host import Conditions
from ..measure.launch import Launch, Slice
from ..race.results.race import Race
from .words.findings import failure_kind, failure_message, shortfall_words, title

_HEADER = (
    "race", "launch", "block", "stack", "slice", "concurrency", "keep_alive", "valid", "duration_s",
    "throughput_per_s", "scheduled", "ok", "non2xx", "failed", "timed_out", "in_flight", "unsent",
    "latency_mean_s", "latency_p50_s", "latency_p90_s", "latency_p99_s", "latency_p999_s", "latency_max_s",
    "censored", "stack_cpu_s", "stack_memory_bytes", "generator_cpu_s", "fairness", "ready_s", "findings",
    "failure", "workload", "memory_start_bytes", "memory_peak_bytes", "memory_end_bytes", "watched_s",
    "stack_cores", "stolen_cpu_s", "foreign_cpu_s", "canary_before_ns", "canary_after_ns",
)  # fmt: skip
"""The columns; new ones are added at the end, none is renamed or removed."""


def export(race: Race) -> str:
    """Return the table with its header; lists inside a field are separated by spaces."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_HEADER)
    for launch in race.launches:
        for slice_ in launch.slices or (None,):
            writer.writerow(_row(race, launch, slice_))
    return out.getvalue()


def _row(race: Race, launch: Launch, slice_: Slice | None) -> tuple[object, ...]:
    before = (race.id, launch.id, launch.block, one_line(launch.stack))
    failed = launch.failure
    failure = one_line(f"{failure_kind(failed)}: {failure_message(failed)}") if failed else ""
    if failed is None and launch.shortfall is not None:
        failure = one_line(f"cut short: {shortfall_words(launch.shortfall)}")
    if slice_ is None:
        empty = [""] * (_HEADER.index("failure") - len(before))
        return (*before, *empty, failure, "", *_memory(launch), *_conditions(None))
    counts, latency, result = slice_.result.counts, slice_.result.latency, slice_.result
    return (
        *before, slice_.index, slice_.load.concurrency, str(slice_.load.keep_alive).lower(),
        str(slice_.verdict.valid).lower(), result.duration_s, slice_.throughput_per_s, counts.scheduled,
        counts.ok, counts.non2xx, sum(counts.failed.values()), counts.timed_out, counts.in_flight,
        counts.unsent,
        latency.mean, latency.p50, latency.p90, latency.p99, latency.p999, latency.max,
        " ".join(sorted(latency.censored)), slice_.cpu_s, sum(hop.pss_bytes for hop in slice_.usage),
        result.generator_cpu_s, result.fairness, "" if launch.ready_s is None else launch.ready_s,
        " ".join(_finding(title(f), f.effect) for f in slice_.verdict.findings), failure,
        one_line(slice_.workload), *_memory(launch), *_conditions(slice_.conditions),
    )  # fmt: skip


def _memory(launch: Launch) -> tuple[object, ...]:
    sizes = [sample.size_bytes for sample in launch.memory]
    return (sizes[0], max(sizes), sizes[-1]) if sizes else ("", "", "")


def _conditions(conditions: Conditions | None) -> tuple[object, ...]:
    if conditions is None:
        return ("",) * 6
    canary_ns = ("" if each is None else each for each in (conditions.canary_before_ns, conditions.canary_after_ns))
    return conditions.elapsed_s, conditions.cores, conditions.stolen_s, conditions.foreign_s, *canary_ns


def _finding(check: str, effect: Effect) -> str:
    return f"{'-'.join(one_line(check).split())}:{effect.value}"
