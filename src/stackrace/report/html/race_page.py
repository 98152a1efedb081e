"""Drawings of a race with its standing on its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ...base.numbers import NOTHING, Interval, duration, mebibytes, number
from ...measure.launch import StackFacts
from ...measure.load import Load
from ...race.results.race import Race
from ...race.results.standing import Level, Row, Standing
from .. import figures
from ..level_table import MARK, level_table
from ..sheet import Column, Medium
from ..words import race_words
from .bars import axis, interval_bar, strip
from .panels import memory_view, multiples_views
from .svg import linear, logarithmic


def drawings(race: Race, standing: Standing) -> dict[str, Any]:
    """Return what the templates of drawn sections need, by name."""
    return {
        **board_drawings(race, standing),
        "stacks": race.stacks,
        "latencies": [_latency_view(level) for level in standing.foremost],
        "multiples": (*multiples_views(race, standing), *memory_view(race, standing)),
        "levels": [(level.label, _columns(level, race.current)) for level in standing.levels],
        "facts": _facts(race),
        "host": _host(race),
    }


def board_drawings(race: Race, standing: Standing) -> dict[str, Any]:
    """Return what ``standing.html.j2`` needs: the bars of the foremost levels, which a running race has, too."""
    void = not standing.verdict.valid
    return {
        "current": race.current,
        "mark": MARK,
        "void": race_words.VOID if void else "",
        "boards": [_standing_view(level, void=void) for level in standing.foremost],
        "figures": figures,
    }


def _columns(level: Level, current: str) -> list[Column]:
    """Return the level's columns, the stacks first: they stay in view while the others scroll."""
    return sorted(level_table(level, current=current).on(Medium.PAGE), key=lambda column: not column.fold_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bar:
    """One row with its drawing; ``span`` is the number of rows of its tier, 0 unless it is the tier's first."""

    row: Row
    drawing: Markup
    span: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _BarsView:
    """Bars of a section with their axis."""

    bars: tuple[_Bar, ...]
    axis: Markup
    where: str = ""


def _standing_view(level: Level, *, void: bool = False) -> _BarsView:
    """Return throughput with its limits, grouped in tiers; in a ``void`` race no stack stands out."""
    rows, leader = level.rows, level.rows[0].throughput_per_s.value
    rates = [_against(row.ratio, leader) for row in rows]
    scale = linear(max(rate.high or rate.value for rate in rates), ticks=3)
    bars = tuple(
        _Bar(row=row, span=_tier_rowspan(rows, index),
            drawing=Markup(interval_bar(rate, scale, _rate(row), first=row.tier == 1 and not void)))
        for index, (row, rate) in enumerate(zip(rows, rates, strict=True))
    )  # fmt: skip
    return _BarsView(bars=bars, axis=Markup(axis(scale, "/s")), where=level.where)


def _latency_view(level: Level) -> _BarsView:
    rows = level.rows
    least, most = min(row.latency.p50 for row in rows), max(row.latency.max for row in rows)
    scale = logarithmic(least * 1e3, most * 1e3)
    bars = tuple(_Bar(row=row, drawing=Markup(strip(row.latency, scale, _latency(row)))) for row in rows)
    return _BarsView(bars=bars, axis=Markup(axis(scale, "ms")), where=level.where)


def _tier_rowspan(rows: tuple[Row, ...], index: int) -> int:
    tier = rows[index].tier
    if index and rows[index - 1].tier == tier:
        return 0
    return sum(row.tier == tier for row in rows)


def _against(ratio: Interval, leader: float) -> Interval:
    """Return the rate that a ratio and its limits mean relative to the leader's."""
    if ratio.low == ratio.high:  # the leader itself, or no limits are known
        return Interval(value=ratio.value * leader)
    low, high = (None if limit is None else limit * leader for limit in (ratio.low, ratio.high))
    return Interval(value=ratio.value * leader, low=low, high=high)


def _rate(row: Row) -> str:
    text = figures.ratio_limits(row.ratio)
    limits = f", {figures.ratio(row.ratio)} ({text}) of the leader" if text else ""
    return f"{row.stack}: {number(row.throughput_per_s.value)} requests/s{limits}"


def _latency(row: Row) -> str:
    names = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "longest"}
    quantiles = ", ".join(f"{name} {figures.quantile(row.latency, key)} ms" for key, name in names.items())
    return f"{row.stack}: {quantiles}"


def _facts(race: Race) -> tuple[StackFacts, ...]:
    """Return the facts of every stack in the race's order, empty ones for unknown stacks."""
    known = {facts.stack: facts for facts in race.facts}
    return tuple(known.get(stack, StackFacts(stack=stack)) for stack in race.stacks)


def _host(race: Race) -> tuple[tuple[str, str], ...]:
    """Return the host's facts and the race's settings that are not in a note, as pairs of name and text."""
    host = race.host
    budget = duration(race.budget_s) if race.budget_s else "none"
    return (
        ("system", f"{host.system}, kernel {host.kernel}"),
        ("processor", f"{host.cpu}, {host.cores} cores"),
        ("memory", f"{mebibytes(host.memory_bytes)} MiB"),
        ("virtualisation", host.virtual or "none"),
        ("Python of stackrace", host.python),
        ("limits", ", ".join(f"{name} {value}" for name, value in host.limits.items()) or NOTHING),
        ("question", race.question.value),
        ("budget", f"{budget}, {duration(race.elapsed_s)} used"),
        *_protocol(race),
        *_urls(race),
    )


def _protocol(race: Race) -> Iterator[tuple[str, str]]:
    if race.repeats is not None:
        yield (
            "runs of each cell",
            f"{race.repeats}, every one on a fresh launch: {', '.join(map(_length, race.loads))}",
        )
    if race.exhaustive:
        yield "early answers", "did not end the race"


def _length(load: Load) -> str:
    length = f"{load.requests} requests" if load.requests else duration(load.duration_s or 0.0)
    return f"{length} at {load.label}"


def _urls(race: Race) -> Iterator[tuple[str, str]]:
    if not race.workloads:
        yield "URLs", ", ".join(race.urls)
    for name, urls in race.workloads.items():
        only = f" (only for {', '.join(race.limits[name])})" if name in race.limits else ""
        yield f"URLs of {name}", ", ".join(urls) + only
