"""The response over the settings: which ones span the picture, in characters and as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ...base.numbers import number
from ...report.html.svg import caption, tag, text
from ...report.html.svg import number as coordinate
from .model import Knob, Tuning, Values
from .result import Tuned


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spot:
    """One configuration in the picture."""

    stack: str
    relative: float | None
    """Compared with the tuned stack, above 1 is better; None where it was not launched."""
    is_out: bool
    """Whether it is beyond a limit."""
    is_best: bool
    """Whether it is the tuned stack."""

    @property
    def figure(self) -> str:
        """What stands in its place."""
        return "✗" if self.is_out else "·" if self.relative is None else number(self.relative)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One panel: two settings, one, or none."""

    title: str
    """What is fixed in it."""
    across: Knob | None
    down: Knob | None
    rows: tuple[tuple[_Spot | None, ...], ...]
    """A row for each value of ``down``, with a spot for each of ``across``; one where there is no such setting."""


def facets(tuning: Tuning, found: Tuned) -> tuple[Facet, ...]:
    """Return the panels: the two numeric settings with the most values span each, one for every value of the rest.

    Those in which nothing was launched are left out, as long as something was anywhere. A setting that means
    nothing in a panel does not span it.
    """
    knobs = tuple(_raced(tuning, found))
    by_size = sorted(range(len(knobs)), key=lambda i: (not knobs[i].numeric, -len(knobs[i].values), i))
    axes = sorted(by_size[:2])
    others = [i for i in range(len(knobs)) if i not in axes]
    panels: dict[Values, dict[Values, _Spot]] = {}
    for values, spot in _spots(knobs, tuning, found):
        panels.setdefault(tuple(values[i] for i in others), {})[values] = spot
    order = [fixed for fixed in product(*((*knobs[i].values, None) for i in others)) if fixed in panels]
    seen = [fixed for fixed in order if any(spot.relative is not None for spot in panels[fixed].values())]
    return tuple(
        _facet(knobs, axes, dict(zip(others, fixed, strict=True)), panels[fixed]) for fixed in seen or order
    )


def _raced(tuning: Tuning, found: Tuned) -> Iterator[Knob]:
    """Yield the knobs with the values beyond their usual ones that were launched."""
    for d, knob in enumerate(tuning.knobs):
        launched = {one.values[d] for one in found.responses}
        extra = {*knob.below, *knob.above} - launched
        yield replace(knob, values=tuple(value for value in knob.ladder if value not in extra))


def _spots(knobs: Sequence[Knob], tuning: Tuning, found: Tuned) -> Iterator[tuple[Values, _Spot]]:
    """Yield every configuration that lies on the grid, with its values."""
    measured = {one.stack: one.relative for one in found.responses}
    out = {one.stack for one in found.infeasible}
    for path, values in tuning.settings.items():
        if all(value is None or value in knob.values for knob, value in zip(knobs, values, strict=True)):
            yield (
                values,
                _Spot(stack=path, relative=measured.get(path), is_out=path in out, is_best=path == found.stack),
            )


def _facet(
    knobs: Sequence[Knob], axes: list[int], fixed: dict[int, str | None], inside: dict[Values, _Spot]
) -> Facet:
    used = [i for i in axes if any(values[i] is not None for values in inside)]
    # the longer one across
    used.sort(key=lambda i: -len(knobs[i].values))
    across, down = (*(knobs[i] for i in used), None, None)[:2]
    spots = {tuple(values[i] for i in used): spot for values, spot in inside.items()}
    columns, rows = ([(value,) for value in knob.values] if knob else [()] for knob in (across, down))
    names = [knob.name for knob in knobs]
    title = ", ".join(
        f"{knobs[i] if names.count(names[i]) > 1 else names[i]}={value}"
        for i, value in fixed.items()
        if value is not None
    )
    return Facet(
        title=title,
        across=across,
        down=down,
        rows=tuple(tuple(spots.get((*column, *row)) for column in columns) for row in rows),
    )


_COMPARED = "Compared with the tuned stack, which is 1; above 1 is better."
LEGEND = f"{_COMPARED} · not launched, ✗ left out."

_BLOCKS = "▁▂▃▄▅▆▇█"
_BEST = "◆"


def block_lines(panel: Facet) -> Iterator[str]:
    """Yield the panel line by line: a map for two settings, a row for one."""
    if panel.title:
        yield panel.title
    names = [f"{panel.down.name}={value}" for value in panel.down.values] if panel.down else [""]
    heads = panel.across.values if panel.across else ()
    cells = [[_block(spot) for spot in row] for row in panel.rows]
    width = max(len(cell) for line in (*cells, heads) for cell in line) + 2
    indent = max(map(len, names))
    if panel.across:
        yield _row_text(f"{panel.across.name}=".rjust(indent), heads, width, indent)
    for name, line in zip(names, cells, strict=True):
        yield _row_text(name, line, width, indent)


def _row_text(name: str, cells: Sequence[str], width: int, indent: int) -> str:
    return (name.rjust(indent) + "".join(cell.rjust(width) for cell in cells)).rstrip()


def _block(spot: _Spot | None) -> str:
    if spot is None:
        return ""
    if spot.is_out or spot.relative is None:
        return spot.figure
    block = _BLOCKS[min(max(int(spot.relative * (len(_BLOCKS) - 1) + 0.5), 0), len(_BLOCKS) - 1)]
    return f"{spot.figure}{_BEST if spot.is_best else block}"


_CELL_W, _CELL_H, _LEFT, _TOP = 58, 30, 92, 34
_LINE_H = 150


def response_chart(panel: Facet) -> str:
    """Return the panel as SVG: a map where two settings span it, a line through the values of one; else empty."""
    if panel.across is None:
        return ""
    drawn = [text(panel.across.name, x=_LEFT - 8, y=_TOP - 8, text_anchor="end")]
    for i, value in enumerate(panel.across.values):
        drawn.append(text(value, x=_LEFT + _CELL_W * (i + 0.5), y=_TOP - 8, text_anchor="middle"))
    drawn += _curve(panel.rows[0]) if panel.down is None else _map(panel.down, panel.rows)
    width = _LEFT + _CELL_W * len(panel.across.values) + 8
    height = _TOP + (_CELL_H * len(panel.rows) if panel.down else _LINE_H) + 8
    about = caption(panel.title or "the response", _COMPARED)
    return tag("svg", about, *drawn, class_="response", role="img", viewBox=f"0 0 {width} {height}", width=width)


def _map(down: Knob, rows: Sequence[Sequence[_Spot | None]]) -> Iterator[str]:
    for j, (value, row) in enumerate(zip(down.values, rows, strict=True)):
        y = _TOP + _CELL_H * j
        yield text(f"{down.name} {value}", x=_LEFT - 8, y=y + _CELL_H * 0.65, text_anchor="end")
        for i, spot in enumerate(row):
            if spot is not None:
                yield from _tile(spot, _LEFT + _CELL_W * i, y)


def _tile(spot: _Spot, x: float, y: float) -> Iterator[str]:
    share = min(max(spot.relative or 0.0, 0.0), 1.0)
    about = caption(f"{spot.stack}: {'left out' if spot.is_out else spot.figure}")
    yield tag(
        "rect", about, x=x + 1, y=y + 1, width=_CELL_W - 2, height=_CELL_H - 2, rx=2,
        class_="heat best" if spot.is_best else "heat", fill_opacity=round(0.06 + 0.74 * share**2, 2),
    )  # fmt: skip
    yield text(spot.figure, x=x + _CELL_W / 2, y=y + _CELL_H * 0.65, text_anchor="middle", class_="value")


def _curve(spots: Sequence[_Spot | None]) -> list[str]:
    most = max((spot.relative for spot in spots if spot and spot.relative is not None), default=1.0)
    floor = _TOP + _LINE_H
    points: list[tuple[float, float]] = []
    marks: list[str] = []
    for i, spot in enumerate(spots):
        x = _LEFT + _CELL_W * (i + 0.5)
        if spot is None or spot.relative is None:
            marks.append(text(spot.figure if spot else "·", x=x, y=floor - 4, text_anchor="middle"))
            continue
        y = floor - (_LINE_H - 22) * spot.relative / most
        points.append((x, y))
        marks.append(tag("circle", caption(spot.stack), cx=x, cy=y, r=5 if spot.is_best else 3.5, class_="dot"))
        marks.append(text(number(spot.relative), x=x, y=y - 8, text_anchor="middle", class_="value"))
    axis = tag("line", x1=_LEFT, x2=_LEFT + _CELL_W * len(spots), y1=floor, y2=floor, class_="zero")
    path = "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points)
    return [axis, *([tag("path", d=f"M{path}", class_="line")] if points else []), *marks]
