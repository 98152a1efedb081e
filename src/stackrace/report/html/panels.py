"""Small multiples, one panel per stack, on one scale: throughput and p99 by concurrency, memory over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from markupsafe import Markup

from ...base.numbers import count, number
from ...measure.launch import MemorySample
from ...race.results.race import Race
from ...race.results.standing import Level, Row, Standing
from ...stats.values import ScalingCurve
from ..growth import launches_at
from ..scaling_words import knee
from .frame import Frame, Point, ghosts, line_path
from .svg import Scale, linear, logarithmic, tag

_STEPS = 40
"""Number of pieces of a fitted curve."""
_SAME_SCALE = "; the same scale in every panel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One stack's drawing, and a line of words below it."""

    stack: str
    drawing: Markup
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiple:
    """One chart: its title, its words, the drawing shared by its panels, and the panels."""

    title: str
    words: str
    panels: tuple[Panel, ...]
    shared: Markup | None = None


def multiples_views(race: Race, standing: Standing) -> tuple[Multiple, ...]:
    """Return throughput and p99 if there are two or more levels: with keep-alive, then without, by workload."""
    views: list[Multiple] = []
    names = dict.fromkeys(level.workload for level in standing.levels)
    for index, (name, keep_alive) in enumerate(product(names, (True, False))):
        levels = [level for level in standing.levels if level.workload == name and level.rows]
        levels = [level for level in levels if level.load.keep_alive is keep_alive]
        levels.sort(key=lambda level: level.load.concurrency)
        if len({level.load.concurrency for level in levels}) < 2:
            continue
        suffix = (f" on {name}" if name else "") + ("" if keep_alive else ", a connection per request")
        rows = [row for level in levels for row in level.rows]
        rate = linear(max(r.throughput_per_s.high or r.throughput_per_s.value for r in rows), ticks=3)
        delays = [value for row in rows for value in _p99_limits_ms(row)]
        delay = logarithmic(min(delays), max(delays))
        order = _order(standing, levels)
        kind = ("keep" if keep_alive else "close") + (str(index) if name else "")
        curves = {
            curve.stack: curve
            for curve in standing.scaling
            if curve.workload == name and curve.keep_alive is keep_alive
        }
        views.append(_multiple(f"Throughput against concurrency{suffix}",
                               "requests/s; whiskers are limits; the largest value is named" + _legend(curves),
                               f"rate-{kind}", levels, order, rate, _rate_point, largest=True,
                               curves=curves))  # fmt: skip
        views.append(_multiple(f"p99 latency against concurrency{suffix}",
                               "ms, logarithmic; whiskers are limits, hollow dots lower bounds; the last is named",
                               f"delay-{kind}", levels, order, delay, _latency_point, largest=False))  # fmt: skip
    return tuple(views)


def _order(standing: Standing, levels: Sequence[Level]) -> list[str]:
    rows = [*standing.rows, *(row for level in levels for row in level.rows)]
    return list(dict.fromkeys(row.stack for row in rows))


def _multiple(title: str, words: str, name: str, levels: Sequence[Level], order: Sequence[str], scale: Scale,
              point: Callable[[int, Row], Point], *, largest: bool,
              curves: Mapping[str, ScalingCurve] | None = None) -> Multiple:  # fmt: skip
    concurrency = [level.load.concurrency for level in levels]
    least, most = min(concurrency), max(concurrency)
    across = Scale(low=least, high=most, ticks=(), log=most > 8 * least)
    frame = Frame(x=across, y=scale, x_labels=tuple((c, str(c)) for c in concurrency))
    lines = {stack: _points(levels, stack, point) for stack in order}
    lines = {stack: points for stack, points in lines.items() if points}
    shared = ghosts(frame, name, ([(p.x, p.y) for p in points] for points in lines.values()))
    panels = tuple(
        Panel(
            stack=stack,
            drawing=Markup(_panel(frame, stack, points, title, name, largest, curve)),
            words=knee(curve) if curve is not None and curve.knee is not None else "",
        )
        for stack, points, curve in ((s, p, (curves or {}).get(s)) for s, p in lines.items())
    )
    return Multiple(title=title, words=words + _SAME_SCALE, shared=Markup(shared), panels=panels)


def _legend(curves: Mapping[str, ScalingCurve]) -> str:
    marked = any(curve.knee not in (None, curve.levels[-1]) for curve in curves.values())
    fitted = any(curve.law for curve in curves.values())
    return ("; a vertical line stands where it stops growing" if marked else "") + (
        "; dashed is the scaling law as fitted" if fitted else ""
    )


def _law_curve(frame: Frame, curve: ScalingCurve | None) -> str:
    if curve is None:
        return ""
    knee = frame.mark(curve.knee) if curve.knee is not None and curve.knee != curve.levels[-1] else ""
    if curve.law is None:
        return knee
    low, high = curve.levels[0], curve.levels[-1]
    steps = (low * (high / low) ** (i / _STEPS) for i in range(_STEPS + 1))
    return knee + frame.curve([(n, curve.law.at(n)) for n in steps])


def _panel(frame: Frame, stack: str, points: Sequence[Point], title: str, name: str, largest: bool,
           curve: ScalingCurve | None) -> str:  # fmt: skip
    named = max(points, key=lambda p: p.y) if largest else points[-1]
    description = "; ".join(f"{count(p.x)} connections: {'≥ ' if p.bound else ''}{number(p.y)}" for p in points)
    label = ("≥ " if named.bound else "") + number(named.y)
    inside = (
        _law_curve(frame, curve) + frame.marks(points) + frame.note(named.x, max(named.y, named.high or 0), label)
    )
    return frame.panel(inside, f"{stack}: {title}", description, behind=name)


def _points(levels: Sequence[Level], stack: str, point: Callable[[int, Row], Point]) -> list[Point]:
    return [point(level.load.concurrency, row) for level in levels for row in level.rows if row.stack == stack]


def _rate_point(concurrency: int, row: Row) -> Point:
    rate = row.throughput_per_s
    return Point(x=concurrency, y=rate.value, low=rate.low, high=rate.high)


def _latency_point(concurrency: int, row: Row) -> Point:
    p99, bound = row.latency_limits.get("p99"), "p99" in row.latency.censored
    if p99 is None or bound:
        return Point(x=concurrency, y=_p99_ms(row), bound=bound)
    low, high = (None if limit is None else limit * 1e3 for limit in (p99.low, p99.high))
    return Point(x=concurrency, y=_p99_ms(row), low=low, high=high)


def _p99_ms(row: Row) -> float:
    p99 = row.latency_limits.get("p99")
    return 1e3 * (row.latency.p99 if p99 is None else p99.value)


def _p99_limits_ms(row: Row) -> Iterator[float]:
    """Yield the values that the scale must hold: the value and, unless it is a bound, its limits."""
    point = _latency_point(1, row)
    yield from (value for value in (point.y, point.low, point.high) if value is not None)


_MOST_POINTS = 60
_WORDS = (
    "MiB (proportional set size, all hops) against seconds since the launch; a line per launch; the peak is named"
)

_Line = list[tuple[float, float]]


def memory_view(race: Race, standing: Standing) -> Iterator[Multiple]:
    """Yield the chart of memory if it was sampled; for runs, the chart of the headline level."""
    order = dict.fromkeys([row.stack for row in standing.rows] + list(race.stacks))
    level = standing.levels[standing.headline] if race.repeats is not None and standing.levels else None
    lines = {stack: _lines(race, stack, level) for stack in order}
    lines = {stack: drawable for stack, drawable in lines.items() if drawable}
    if not lines:
        return
    points = [point for of_stack in lines.values() for line in of_stack for point in line]
    across, up = linear(max(x for x, _ in points), ticks=3), linear(max(y for _, y in points), ticks=3)
    frame = Frame(x=across, y=up, x_labels=tuple((tick, across.label(tick)) for tick in across.ticks))
    panels = tuple(
        Panel(stack=s, drawing=Markup(_memory_panel(frame, s, of_stack))) for s, of_stack in lines.items()
    )
    title = "Memory over time" + (f" {level.where}" if level else "")
    yield Multiple(title=title, words=_WORDS + _SAME_SCALE, panels=panels)


def _memory_panel(frame: Frame, stack: str, lines: Sequence[_Line]) -> str:
    drawn = [tag("path", d=line_path(frame, line), class_="line thin") for line in lines]
    x, y = max((point for line in lines for point in line), key=lambda point: point[1])
    drawn.append(frame.note(x, y, number(y)))
    description = f"Peak {number(y)} MiB after {number(x)} s; {len(lines)} launches"
    return frame.panel("".join(drawn), f"{stack}: memory over time", description)


def _lines(race: Race, stack: str, level: Level | None) -> list[_Line]:
    own = [launch for launch in race.launches if launch.stack == stack]
    lines = [_thinned(launch.memory) for launch in (own if level is None else launches_at(race, level, stack))]
    return [line for line in lines if len(line) > 1]


def _thinned(samples: Sequence[MemorySample]) -> _Line:
    """Return at most ``_MOST_POINTS`` points in MiB, the highest of each group: no peak is lost."""
    line = [(sample.at_s, sample.size_bytes / 1024**2) for sample in samples]
    step = -(-len(line) // _MOST_POINTS) or 1
    return [max(line[i : i + step], key=lambda point: point[1]) for i in range(0, len(line), step)]
