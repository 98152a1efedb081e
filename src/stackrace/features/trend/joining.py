"""Comparable races joined to series, and the changes in them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...base.numbers import Interval
from ...race.results.race import Race
from ...race.results.standing import Standing
from ...report.exporter import kind_of
from .changes import ALPHA, LEAST, changes, least_values
from .foretold import foretold
from .model import Absence, Measure, SeriesKey, Trend, TrendChange, TrendCheck, TrendPoint, TrendSeries
from .points import points_of

__all__ = ["joined"]

_FAMILY = 0.05
"""How often a trend in which nothing changed may show a change, in whichever of its series."""


def joined(project: str, races: Iterable[tuple[Race, Standing]]) -> Trend:
    """Return the trend of ``races``, given in order of time."""
    series: dict[SeriesKey, list[TrendPoint]] = {}
    left_out: Counter[Absence] = Counter()
    checks: list[TrendCheck] = []
    count = 0
    order: dict[str, int] = {}
    for race, standing in races:
        order[race.id] = len(order)
        kind = kind_of(race)
        compared = None if kind is None else kind.compared(race)
        if compared is not None:
            checks.append(TrendCheck(race=race.id, started_at=race.started_at, said=compared))
            continue
        points = list(points_of(race, standing))
        if kind is not None:
            left_out[Absence.TUNING] += 1
        elif not standing.verdict.valid:
            left_out[Absence.VOID] += 1
        elif not points:
            left_out[Absence.NO_FIGURES] += 1
        else:
            count += 1
            for key, point in points:
                series.setdefault(key, []).append(point)
    # those with the newest race first; sorting keeps the order of a race's own standing
    newest = sorted(series.items(), key=lambda item: order[item[1][-1].race], reverse=True)
    whole = [TrendSeries(key=key, points=tuple(points)) for key, points in newest]
    alpha = _alpha(whole)
    return Trend(
        project=project,
        races=count,
        series=tuple(_judged(each, alpha) for each in whole),
        needed=least_values(alpha) if whole else 0,
        checks=tuple(checks),
        left_out=left_out,
    )


def _alpha(whole: Sequence[TrendSeries]) -> float:
    """Return what each figure of each series may spend of ``_FAMILY``.

    Source: Bonferroni's inequality; it holds however figures of one race depend on each other.
    """
    tests = sum(len(_known(series.points, measure)) >= 2 * LEAST for series in whole for measure in Measure)
    return min(_FAMILY / max(tests, 1), ALPHA)


def _judged(series: TrendSeries, alpha: float) -> TrendSeries:
    found = tuple(change for measure in Measure for change in _changes(series, measure, alpha))
    unlike = {
        measure: ratio for measure in Measure if (ratio := _unlike(series, measure, found, alpha)) is not None
    }
    return replace(series, changes=tuple(sorted(found, key=lambda change: change.at)), unlike=unlike)


def _known(points: Sequence[TrendPoint], measure: Measure) -> list[int]:
    """Return the places of the points that have ``measure``."""
    return [place for place, point in enumerate(points) if measure in point.values]


def _logs(series: TrendSeries, measure: Measure, places: Iterable[int]) -> list[float]:
    return [math.log(series.points[place].values[measure].value) for place in places]


def _changes(series: TrendSeries, measure: Measure, alpha: float) -> Iterator[TrendChange]:
    places = _known(series.points, measure)
    for change in changes(_logs(series, measure, places), alpha=alpha):
        before, after = series.points[places[change.at - 1]], series.points[places[change.at]]
        yield TrendChange(
            measure=measure,
            at=places[change.at],
            ratio=_ratio(change.shift, change.low, change.high),
            p=change.p,
            beside=dict(_beside(before, after)),
        )


def _beside(before: TrendPoint, after: TrendPoint) -> Iterator[tuple[str, tuple[str, str]]]:
    if before.source != after.source:
        yield "commit", (before.source, after.source)
    for name, value in after.circumstances.items():
        earlier = before.circumstances.get(name, value)
        if earlier != value:
            yield name, (earlier, value)


def _unlike(series: TrendSeries, measure: Measure, found: Sequence[TrendChange], alpha: float) -> Interval | None:
    """Return how the last race differs from what those since the last change foretold; None where it does not."""
    since = max((change.at for change in found if change.measure is measure), default=0)
    places = [place for place in _known(series.points, measure) if place >= since]
    if not places or places[-1] != len(series.points) - 1:
        return None
    *before, last = _logs(series, measure, places)
    band = foretold(before, alpha=alpha)
    if band is None or band.low <= last <= band.high:
        return None
    return _ratio(last - band.value, last - band.high, last - band.low)


def _ratio(shift: float, low: float, high: float) -> Interval:
    return Interval(value=math.exp(shift), low=math.exp(low), high=math.exp(high))
