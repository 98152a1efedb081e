"""The response over the settings: which ones span the picture, in characters and as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ....base.numbers import number
from ....report.charts.svg import caption, tag, text
from ....report.charts.svg import number as coordinate
from ..model import Knob, Tuning
from ..result import Tuned


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One configuration in the picture."""

    stack: str
    relative: float | None
    """Compared with the tuned stack, above 1 is better; None where it was not launched."""
    value: float | None
    """In the goal's own unit."""
    launches: int = 0
    out: bool = False
    """Whether it is beyond a limit."""
    best: bool = False
    """Whether it is the tuned stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One panel: two settings, one, or none."""

    title: str
    """What is fixed in it."""
    across: Knob | None
    down: Knob | None
    spots: Mapping[tuple[str, str], Spot]
    """By the values of ``across`` and ``down``, empty text where there is none."""


def facets(tuning: Tuning, found: Tuned) -> tuple[Facet, ...]:
    """Return the panels: the two numeric settings with the most values span each, one for every value of the rest.

    Those in which nothing was launched are left out, as long as something was anywhere. A setting that means
    nothing in a panel does not span it.
    """
    tuning = replace(tuning, knobs=tuple(_raced(tuning, found)))
    spots = dict(_spots(tuning, found))
    axes = _axes(tuning)
    others = [i for i in range(len(tuning.knobs)) if i not in axes]
    panels: list[Facet] = []
    for fixed in product(*((*tuning.knobs[i].values, None) for i in others)):
        inside = {
            values: spot
            for values, spot in spots.items()
            if all(values[i] == value for i, value in zip(others, fixed, strict=True))
        }
        if inside:
            panels.append(_facet(tuning, axes, others, fixed, inside))
    seen = [panel for panel in panels if any(spot.launches for spot in panel.spots.values())]
    return tuple(seen or panels)


def _raced(tuning: Tuning, found: Tuned) -> Iterator[Knob]:
    """Yield the knobs with the values beyond their usual ones that were launched."""
    for d, knob in enumerate(tuning.knobs):
        launched = {one.values[d] for one in found.responses}
        extra = {*knob.below, *knob.above} - launched
        yield replace(knob, values=tuple(value for value in knob.ladder if value not in extra))


def _axes(tuning: Tuning) -> list[int]:
    """Return the numbers of the knobs that span the panels, at most two."""
    by_size = sorted(
        range(len(tuning.knobs)), key=lambda i: (not tuning.knobs[i].numeric, -len(tuning.knobs[i].values), i)
    )
    return sorted(by_size[:2])


def _facet(
    tuning: Tuning,
    axes: list[int],
    others: list[int],
    fixed: tuple[str | None, ...],
    inside: Mapping[tuple[str | None, ...], Spot],
) -> Facet:
    used = [i for i in axes if any(values[i] is not None for values in inside)]
    # the longer one across
    used.sort(key=lambda i: -len(tuning.knobs[i].values))
    across, down = (*used, None, None)[:2]
    names = [knob.name for knob in tuning.knobs]
    title = ", ".join(
        f"{tuning.knobs[i].server + '.' if names.count(names[i]) > 1 else ''}{names[i]}={value}"
        for i, value in zip(others, fixed, strict=True)
        if value is not None
    )
    return Facet(
        title=title,
        across=None if across is None else tuning.knobs[across],
        down=None if down is None else tuning.knobs[down],
        spots={
            ("" if across is None else values[across] or "", "" if down is None else values[down] or ""): spot
            for values, spot in inside.items()
        },
    )


def _spots(tuning: Tuning, found: Tuned) -> Iterator[tuple[tuple[str | None, ...], Spot]]:
    """Yield every configuration that lies on the grid, with its values."""
    measured = {one.stack: one for one in found.responses}
    out = {one.stack for one in found.infeasible}
    for path, values in tuning.settings.items():
        if any(v is not None and v not in knob.values for knob, v in zip(tuning.knobs, values, strict=True)):
            continue
        one = measured.get(path)
        yield (
            values,
            Spot(
                stack=path,
                relative=None if one is None else one.relative,
                value=None if one is None else one.value,
                launches=0 if one is None else one.launches,
                out=path in out,
                best=path == found.stack,
            ),
        )


LEGEND = "Compared with the tuned stack, which is 1; above 1 is better. · not launched, ✗ left out."

_BLOCKS = "▁▂▃▄▅▆▇█"
_NOTHING, _OUT, _BEST = "·", "✗", "◆"


def block_lines(panel: Facet) -> Iterator[str]:
    """Yield the panel line by line: a map for two settings, a row for one."""
    if panel.title:
        yield panel.title
    columns = panel.across.values if panel.across else ("",)
    rows = panel.down.values if panel.down else ("",)
    names = [f"{panel.down.name}={row}" if panel.down else "" for row in rows]
    cells = [[_block(panel.spots.get((column, row))) for column in columns] for row in rows]
    width = max(len(cell) for line in (*cells, columns) for cell in line) + 2
    indent = max(map(len, names))
    if panel.across:
        yield _row_text(f"{panel.across.name}=".rjust(indent), columns, width, indent)
    for name, line in zip(names, cells, strict=True):
        yield _row_text(name, line, width, indent)


def _row_text(name: str, cells: Sequence[str], width: int, indent: int) -> str:
    return (name.rjust(indent) + "".join(cell.rjust(width) for cell in cells)).rstrip()


def _block(spot: Spot | None) -> str:
    if spot is None:
        return ""
    if spot.out:
        return _OUT
    if spot.relative is None:
        return _NOTHING
    block = _BLOCKS[min(max(int(spot.relative * (len(_BLOCKS) - 1) + 0.5), 0), len(_BLOCKS) - 1)]
    return f"{number(spot.relative)}{_BEST if spot.best else block}"


CELL_W, CELL_H, LEFT, TOP = 58, 30, 92, 34
_LINE_H = 150


def response_chart(panel: Facet, title: str, describe: str) -> str:
    """Return the panel as SVG: a map where two settings span it, else a line through its values."""
    if panel.across is None:
        return ""
    drawn = _map(panel) if panel.down is not None else _curve(panel)
    columns = len(panel.across.values)
    height = TOP + (CELL_H * len(panel.down.values) if panel.down else _LINE_H) + 8
    box = f"0 0 {LEFT + CELL_W * columns + 8} {height}"
    about = caption(title, describe)
    return tag("svg", about, *drawn, class_="response", role="img", viewBox=box, width=LEFT + CELL_W * columns + 8)


def _heads(panel: Facet) -> list[str]:
    assert panel.across is not None
    drawn = [text(panel.across.name, x=LEFT - 8, y=TOP - 8, text_anchor="end")]
    for i, value in enumerate(panel.across.values):
        drawn.append(text(value, x=LEFT + CELL_W * (i + 0.5), y=TOP - 8, text_anchor="middle"))
    return drawn


def _map(panel: Facet) -> list[str]:
    assert panel.across is not None and panel.down is not None
    drawn = _heads(panel)
    for j, row in enumerate(panel.down.values):
        y = TOP + CELL_H * j
        drawn.append(text(f"{panel.down.name} {row}", x=LEFT - 8, y=y + CELL_H * 0.65, text_anchor="end"))
        for i, column in enumerate(panel.across.values):
            drawn += _tile(panel.spots.get((column, row)), LEFT + CELL_W * i, y)
    return drawn


def _tile(spot: Spot | None, x: float, y: float) -> list[str]:
    if spot is None:
        return []
    share = 0.0 if spot.relative is None else min(max(spot.relative, 0.0), 1.0)
    words = "✗" if spot.out else "·" if spot.relative is None else number(spot.relative)
    about = caption(f"{spot.stack}: {'left out' if spot.out else words}")
    frame = tag(
        "rect", about, x=x + 1, y=y + 1, width=CELL_W - 2, height=CELL_H - 2, rx=2,
        class_="heat best" if spot.best else "heat", fill_opacity=round(0.06 + 0.74 * share**2, 2),
    )  # fmt: skip
    label = text(words, x=x + CELL_W / 2, y=y + CELL_H * 0.65, text_anchor="middle", class_="value")
    return [frame, label]


def _curve(panel: Facet) -> list[str]:
    assert panel.across is not None
    spots = [panel.spots.get((value, "")) for value in panel.across.values]
    most = max((spot.relative for spot in spots if spot and spot.relative is not None), default=1.0)
    floor = TOP + _LINE_H
    drawn = [*_heads(panel), tag("line", x1=LEFT, x2=LEFT + CELL_W * len(spots), y1=floor, y2=floor, class_="zero")]
    points: list[tuple[float, float]] = []
    marks: list[str] = []
    for i, spot in enumerate(spots):
        x = LEFT + CELL_W * (i + 0.5)
        if spot is None or spot.relative is None:
            mark = "✗" if spot is not None and spot.out else "·"
            marks.append(text(mark, x=x, y=floor - 4, text_anchor="middle"))
            continue
        y = floor - (_LINE_H - 22) * spot.relative / most
        points.append((x, y))
        marks.append(tag("circle", caption(spot.stack), cx=x, cy=y, r=5 if spot.best else 3.5, class_="dot"))
        marks.append(text(number(spot.relative), x=x, y=y - 8, text_anchor="middle", class_="value"))
    if points:
        path = "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points)
        drawn.append(tag("path", d=path, class_="line"))
    return [*drawn, *marks]
