"""Report of one engine, or merged recordings of several for one load, as a LoadResult.

Nanoseconds become seconds, empty distributions None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

from stackrace.base.errors import InputError
from stackrace.measure.load import Counts, LoadResult, Quantiles, SeriesBin, TargetResult

from . import _engine
from .histogram import QUANTILES, summary

_NS = 1e-9


def outcome(report: _engine.Report, ceiling_per_s: float | None = None) -> LoadResult:
    """Return ``report`` as a LoadResult; ``ceiling_per_s`` is the engine's own limit here, None if not measured."""
    return LoadResult(
        started_at=report.started_ns * _NS,
        duration_s=report.duration_ns * _NS,
        counts=_counts(report),
        latency=summary(report.latency),
        connect=summary(report.connect),
        histogram=report.latency.to_bytes(),
        series=_series(report),
        status_classes=report.status_classes,
        **cast(Any, report.counters),
        established_peak=report.established_peak,
        generator_cpu_s=report.cpu_ns * _NS,
        generator_wait_s=report.wait_ns * _NS,
        generator_spin_s=report.spun_ns * _NS,
        generator_busy=report.busiest,
        fairness=report.fairness,
        dead_time=report.dead_time,
        service=summary(report.service),
        lag=summary(report.lag),
        tls=_unless_empty(report.tls),
        pages=_unless_empty(report.pages),
        targets=tuple(_target(target) for target in report.targets),
        ceiling_per_s=ceiling_per_s,
        arrivals_distance=report.arrivals_distance,
    )


def _unless_empty(histogram: _engine.Histogram) -> Quantiles | None:
    return summary(histogram) if histogram.count else None


def _counts(report: _engine.Report | _engine.TargetReport) -> Counts:
    return Counts(**{field.name: getattr(report, field.name) for field in fields(Counts)})


def _target(report: _engine.TargetReport) -> TargetResult:
    censored = {name for name, q in QUANTILES.items() if report.is_censored(q)}
    if report.is_censored(1.0):
        censored |= {"mean", "max"}
    return TargetResult(
        name=report.name,
        counts=_counts(report),
        latency=Quantiles(
            count=report.count,
            mean=report.mean_ns * _NS,
            **{name: report.quantile_ns(q) * _NS for name, q in QUANTILES.items()},
            max=report.max_ns * _NS,
            censored=frozenset(censored),
        ),
    )


def _series(report: _engine.Report) -> tuple[SeriesBin, ...]:
    width_s = report.bin_ns * _NS
    return tuple(
        SeriesBin(
            start_s=index * width_s,
            ok=bin_.ok,
            errors=bin_.errors,
            in_flight=bin_.in_flight,
            p50_s=bin_.p50_ns * _NS,
            p99_s=bin_.p99_ns * _NS,
        )
        for index, bin_ in enumerate(report.series)
    )


def merged(recordings: Sequence[tuple[bytes, float]], ceiling_per_s: float | None = None) -> LoadResult:
    """Return the merged result of several engines; each recording comes with the seconds to add to its clock.

    Histograms are added bucket by bucket before any quantile is taken, as if one engine had recorded all.
    Raise InputError for bytes that are no recording of this version, and for recordings of different loads.
    """
    try:
        joined = _engine.join([(data, round(shift_s * 1e9)) for data, shift_s in recordings])
        return outcome(joined, ceiling_per_s)
    except (ValueError, OverflowError) as error:
        raise InputError(f"the engines' recordings cannot be merged: {error}") from error
