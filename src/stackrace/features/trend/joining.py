"""A project's stored races, joined over time: comparable figures as series, and the changes in them."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...app.revision import project_of
from ...base.errors import InputError, StoreError
from ...base.numbers import Interval, mebibytes, things
from ...measure.host import HostFacts
from ...measure.resources import Resources
from ...race.results.race import Ending, Race
from ...race.results.standing import Level, Row, Standing
from ...report.exporter import kind_of
from ...report.merged_standing import standing_of
from ...store.lookup import Summary
from .changes import ALPHA, LEAST, MOST, changes, least_values, outlying
from .model import Absence, Measure, SeriesKey, Trend, TrendChange, TrendCheck, TrendPoint, TrendSeries

if TYPE_CHECKING:
    from ...store.store import Store

_OnRace = Callable[[int, int], None]
"""Function that gets the number of races read, and of all."""


def trend_of(project: str | None, store: Store, *, folder: Path, on_race: _OnRace = lambda done, of: None) -> Trend:
    """Return the trend of ``project``: a folder, or an app by its name; None: the project in ``folder``.

    Raises InputError that names the projects with races if this one has none.
    """
    known = store.list(None)
    if not known:
        raise StoreError("nothing has been raced yet; start with: stackrace run")
    meant = _races_of(project, known, folder)
    app = meant[0].app
    same = [race for race in meant if race.app == app]
    ended = [race for race in same if race.ending not in (None, Ending.INTERRUPTED)]
    chosen = ended[:MOST]
    trend = joined(app, _read(store, chosen, on_race))
    counts = {
        Absence.OTHER_APP: len(meant) - len(same),
        Absence.UNFINISHED: len(same) - len(ended),
        Absence.TOO_OLD: len(ended) - len(chosen),
    }
    left_out = {**trend.left_out, **{reason: count for reason, count in counts.items() if count}}
    return replace(trend, left_out=left_out)


def _races_of(project: str | None, known: Sequence[Summary], folder: Path) -> list[Summary]:
    place = folder if project is None else Path(project)
    if project is not None and (named := [race for race in known if race.app == project]):
        return named
    if project is None or place.is_dir():
        identity = project_of(place)
        if found := [race for race in known if race.project == identity]:
            return found
    apps = Counter(race.app for race in known)
    names = ", ".join(f"{app!r} ({things(count, 'race')})" for app, count in apps.most_common(5))
    what = "the project in this folder" if project is None else f"{project!r}"
    raise InputError(f"no stored race is of {what}; name one of: {names}, or a project's folder")


def _read(store: Store, chosen: Sequence[Summary], on_race: _OnRace) -> Iterator[tuple[Race, Standing]]:
    for done, summary in enumerate(reversed(chosen)):
        on_race(done, len(chosen))
        race = store.load(summary.id)
        yield race, standing_of(race)
    on_race(len(chosen), len(chosen))


_FAMILY = 0.05
"""Probability that a trend without a change shows one, in any of its series."""


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
        points = list(_points_of(race, standing))
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
    # newest race first; sorting keeps the order of a race's own standing
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
    """Return the part of ``_FAMILY`` for each figure of each series.

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
            ratio=_ratio(change.shift),
            p=change.p,
            changed_too=dict(_changed_too(before, after)),
        )


def _changed_too(before: TrendPoint, after: TrendPoint) -> Iterator[tuple[str, tuple[str, str]]]:
    if before.source != after.source:
        yield "commit", (before.source, after.source)
    for name, value in after.circumstances.items():
        earlier = before.circumstances.get(name, value)
        if earlier != value:
            yield name, (earlier, value)


def _unlike(series: TrendSeries, measure: Measure, found: Sequence[TrendChange], alpha: float) -> Interval | None:
    """Return the ratio of the last race to those since the last change; None if they predicted it."""
    since = max((change.at for change in found if change.measure is measure), default=0)
    places = [place for place in _known(series.points, measure) if place >= since]
    if not places or places[-1] != len(series.points) - 1:
        return None
    off = outlying(_logs(series, measure, places), alpha=alpha)
    return None if off is None else _ratio(off)


def _ratio(shift: Interval) -> Interval:
    low, high = (None if limit is None else math.exp(limit) for limit in (shift.low, shift.high))
    return Interval(value=math.exp(shift.value), low=low, high=high)


_MOST_URLS = 3


def _points_of(race: Race, standing: Standing) -> Iterator[tuple[SeriesKey, TrendPoint]]:
    """Yield a point with its series for every stack at the race's main levels."""
    facts = {each.stack: each.versions for each in race.facts}
    for level in standing.foremost:
        for row in level.rows:
            key = SeriesKey(
                stack=row.stack,
                workload=_workload(race, level),
                pages=_digest(_urls(race, level)),
                load=level.load.label,
                host=_host(race.host, race.cores),
            )
            yield (
                key,
                TrendPoint(
                    race=race.id,
                    started_at=race.started_at,
                    source=race.source.short if race.source else "",
                    values=dict(_values(row)),
                    circumstances={
                        **facts.get(row.stack, {}),
                        "kernel": race.host.kernel,
                        "Stackrace": race.version,
                    },
                ),
            )


def _values(row: Row) -> Iterator[tuple[Measure, Interval]]:
    yield Measure.THROUGHPUT, row.throughput_per_s
    p99 = row.latency_limits.get("p99")
    if p99 is not None and "p99" not in row.latency.censored:
        yield Measure.P99, p99
    if cpu_ms := sum(row.cpu_ms_per_request.values()):
        yield Measure.CPU, Interval(value=cpu_ms)
    if memory_bytes := sum(row.memory_bytes.values()):
        yield Measure.MEMORY, Interval(value=memory_bytes)


def _urls(race: Race, level: Level) -> tuple[str, ...]:
    return race.workloads.get(level.workload, race.urls)


def _digest(urls: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(urls).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _workload(race: Race, level: Level) -> str:
    urls = _urls(race, level)
    shown = [urlsplit(url).path.rpartition("/")[2] if url.startswith("file:") else url for url in urls]
    more = f" and {len(shown) - _MOST_URLS} more" if len(shown) > _MOST_URLS else ""
    pages = ", ".join(shown[:_MOST_URLS]) + more
    return f"{level.workload}: {pages}" if level.workload else pages


def _host(host: HostFacts, cores: Resources) -> str:
    """Return the facts that must be equal for figures of two races to be comparable; a kernel may be updated."""
    gib = round(host.memory_bytes / 2**30)
    memory = "" if cores.memory_bytes is None else f", {mebibytes(cores.memory_bytes)} MiB"
    given = f"{len(cores.stack_cores)} of {host.cores} cores{memory} a stack"
    return f"{host.cpu}, {gib} GiB, {given}" + (f", {host.virtual}" if host.virtual else "")
