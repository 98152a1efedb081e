"""Sentences of a trend."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.numbers import Interval, count, mebibytes, milliseconds, number, percent, things
from ...race.results.comparison import Outcome
from ...report.figures import listed
from .model import Absence, Measure, Trend, TrendChange, TrendPoint, TrendSeries

_ABSENT = {
    Absence.VOID: "void",
    Absence.NO_FIGURES: "without a figure",
    Absence.UNFINISHED: "unfinished",
    Absence.OTHER_APP: "of another app in the same folder",
    Absence.TUNING: "that tuned a stack",
    Absence.TOO_OLD: "earlier than those shown",
}


def headline(trend: Trend) -> str:
    """Return the changes in a sentence."""
    found = [change for series in trend.series for change in series.changes]
    if not trend.series:
        return _checks(trend) or "No race of it can be shown."
    if not found:
        longest = max(len(series.points) for series in trend.series)
        if longest < trend.needed:
            return f"Too few comparable races to prove a change: {longest} of at least {trend.needed}."
        return "No lasting change."
    worse = sum(change.is_worse for change in found)
    better = len(found) - worse
    parts = [f"{worse} for the worse"] * bool(worse) + [f"{better} for the better"] * bool(better)
    return f"{things(len(found), 'change')}: {' and '.join(parts)}."


def about(trend: Trend) -> str:
    """Return the sentences about the races behind the trend."""
    if not trend.series:
        return ""
    times = sorted(point.started_at for series in trend.series for point in series.points)
    return (
        f"{things(trend.races, 'race')} of {trend.project}, {_span(times[0], times[-1])}. {_checks(trend)}".strip()
    )


def _span(first: str, last: str) -> str:
    """Return two moments as days: ``2026-03-01 to 2026-11-24``."""
    return first[:10] if first[:10] == last[:10] else f"{first[:10]} to {last[:10]}"


def where(series: TrendSeries) -> str:
    """Return a series' stack with its load."""
    return f"{series.key.stack} at {series.key.load}"


def change(series: TrendSeries, found: TrendChange) -> str:
    """Return the sentence about a change: its size, its two races, and other changes between them."""
    before, after = series.points[found.at - 1], series.points[found.at]
    verb = "rose" if found.ratio.value > 1 else "fell"
    between = f"between race {_named(before)} and race {_named(after)}"
    changed_too = [
        f"{name} {old or 'unknown'} → {new or 'unknown'}" for name, (old, new) in found.changed_too.items()
    ]
    also = f" Changed there, too: {listed(changed_too)}." if changed_too else ""
    return f"{_title(found.measure)} {verb} by {_by(found.ratio)} {between}.{also}"


def unlike(series: TrendSeries, measure: Measure, ratio: Interval) -> str:
    """Return the sentences about the last race's difference from those before it."""
    last = series.points[-1]
    verb = "above" if ratio.value > 1 else "below"
    return (
        f"The {measure.value} of race {_named(last)} is {_by(ratio)} {verb} the races before it, more than these "
        "vary. One race proves nothing: race again."
    )


def figure(point: TrendPoint, measure: Measure) -> str:
    """Return a point's value with its unit; empty if there is none."""
    known = point.values.get(measure)
    if known is None:
        return ""
    match measure:
        case Measure.THROUGHPUT:
            return f"{count(round(known.value))} req/s"
        case Measure.P99:
            return f"{milliseconds(known.value)} ms"
        case Measure.CPU:
            return f"{number(known.value)} ms"
        case Measure.MEMORY:
            return f"{mebibytes(round(known.value))} MiB"


def left_out(trend: Trend) -> str:
    """Return the sentence about races in no series; empty if all are in one."""
    parts = [f"{amount} {_ABSENT[reason]}" for reason, amount in trend.left_out.items()]
    return f"Races not shown: {listed(parts)}." if parts else ""


def notes(trend: Trend) -> Iterator[str]:
    """Yield notes about the method."""
    needed = f"; that takes {trend.needed} comparable races" if trend.needed else ""
    yield (
        "Only races of one stack, workload, load and machine are joined. Where nothing changed, 95 % of reports "
        f"show no change (E-divisive, all series together){needed}. Limits of a change are 95 %."
    )
    if len({series.key.host for series in trend.series}) > 1:
        yield "Races of different machines, or with other cores or memory, are series of their own."


def _checks(trend: Trend) -> str:
    if not trend.checks:
        return ""
    slower = sum(check.said.outcome is Outcome.FAILED for check in trend.checks)
    found = f"{count(slower)} found something slower" if slower else "none found anything slower"
    return f"{things(len(trend.checks), 'check')}, {found}."


def _by(ratio: Interval) -> str:
    low, high = sorted(abs(limit - 1) for limit in (ratio.low or ratio.value, ratio.high or ratio.value))
    crosses = (ratio.low or 1) < 1 < (ratio.high or 1)
    limits = f"{percent(0 if crosses else low).removesuffix(' %')}–{percent(high)}"
    return f"{percent(abs(ratio.value - 1))} ({limits})"


def _named(point: TrendPoint) -> str:
    source = f", commit {point.source}" if point.source else ""
    return f"{point.race} ({point.started_at[:10]}{source})"


def _title(measure: Measure) -> str:
    return measure.value[0].upper() + measure.value[1:]
