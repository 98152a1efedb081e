"""What one race adds to which series."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from urllib.parse import urlsplit

from ...base.numbers import Interval, mebibytes
from ...measure.host import HostFacts
from ...measure.resources import Resources
from ...race.results.race import Race
from ...race.results.standing import Level, Row, Standing
from .model import Measure, SeriesKey, TrendPoint

__all__ = ["points_of"]

_MOST_URLS = 3


def points_of(race: Race, standing: Standing) -> Iterator[tuple[SeriesKey, TrendPoint]]:
    """Yield a point for every stack at the levels that the race speaks of, with the series it belongs to."""
    facts = {each.stack: each.versions for each in race.facts}
    for level in standing.foremost:
        for row in level.rows:
            key = SeriesKey(
                stack=row.stack,
                workload=_workload(race, level),
                pages=hashlib.sha256("\n".join(_urls(race, level)).encode("utf-8", "surrogateescape")).hexdigest()[
                    :12
                ],
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
    return hashlib.sha256("\n".join(urls).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _workload(race: Race, level: Level) -> str:
    urls = _urls(race, level)
    shown = [urlsplit(url).path.rpartition("/")[2] if url.startswith("file:") else url for url in urls]
    more = f" and {len(shown) - _MOST_URLS} more" if len(shown) > _MOST_URLS else ""
    pages = ", ".join(shown[:_MOST_URLS]) + more
    return f"{level.workload}: {pages}" if level.workload else pages


def _host(host: HostFacts, cores: Resources) -> str:
    """Say what must be equal for figures of two races to be comparable; a kernel may be updated."""
    gib = round(host.memory_bytes / 2**30)
    memory = "" if cores.memory_bytes is None else f", {mebibytes(cores.memory_bytes)} MiB"
    given = f"{len(cores.stack_cores)} of {host.cores} cores{memory} a stack"
    return f"{host.cpu}, {gib} GiB, {given}" + (f", {host.virtual}" if host.virtual else "")
