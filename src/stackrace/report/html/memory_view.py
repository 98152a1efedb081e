"""Memory over time: one small panel per stack, one line per launch, all on one scale."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ...measure.launch import MemorySample
from ...race.results.race import Race
from ...race.results.standing import Level, Standing
from .. import figures
from ..charts.panel import Frame, line_path
from ..charts.scale import linear
from ..charts.svg import tag
from ..growth import launches_at
from .multiples_view import Multiple, Panel

__all__ = ["memory_view"]

_MOST_POINTS = 60
"""Per line; more would only swell the page."""
_WORDS = (
    "MiB (proportional set size, all hops) against seconds since the launch; a line per launch; the peak is named"
)

_Line = list[tuple[float, float]]


def memory_view(race: Race, standing: Standing) -> Multiple | None:
    """Return the chart, or None when no memory was sampled; of runs those at the headline level."""
    order = dict.fromkeys([row.stack for row in standing.rows] + list(race.stacks))
    level = standing.levels[standing.headline] if race.repeats is not None and standing.levels else None
    lines = {stack: _lines(race, stack, level) for stack in order}
    lines = {stack: drawable for stack, drawable in lines.items() if drawable}
    if not lines:
        return None
    points = [point for of_stack in lines.values() for line in of_stack for point in line]
    across, up = linear(max(x for x, _ in points), ticks=3), linear(max(y for _, y in points), ticks=3)
    frame = Frame(x=across, y=up, x_labels=tuple((tick, across.label(tick)) for tick in across.ticks))
    panels = tuple(Panel(stack=s, drawing=Markup(_panel(frame, s, of_stack))) for s, of_stack in lines.items())
    title = "Memory over time" + (f" {level.where}" if level else "")
    return Multiple(title=title, words=_WORDS, shared=Markup(), panels=panels)


def _panel(frame: Frame, stack: str, lines: Sequence[_Line]) -> str:
    drawn = [tag("path", d=line_path(frame, line), class_="line thin") for line in lines]
    x, y = max((point for line in lines for point in line), key=lambda point: point[1])
    drawn.append(frame.note(x, y, figures.number(y)))
    description = f"Peak {figures.number(y)} MiB after {figures.number(x)} s; {len(lines)} launches"
    return frame.panel("".join(drawn), f"{stack}: memory over time", description)


def _lines(race: Race, stack: str, level: Level | None) -> list[_Line]:
    own = [launch for launch in race.launches if launch.stack == stack]
    lines = [_thin(launch.memory) for launch in (own if level is None else launches_at(race, level, stack))]
    return [line for line in lines if len(line) > 1]


def _thin(samples: Sequence[MemorySample]) -> _Line:
    """Return at most ``_MOST_POINTS`` points in MiB, the highest of each run of samples: no peak is lost."""
    line = [(sample.at_s, sum(sample.pss_bytes.values()) / 1024**2) for sample in samples]
    step = -(-len(line) // _MOST_POINTS) or 1
    return [max(line[i : i + step], key=lambda point: point[1]) for i in range(0, len(line), step)]
