"""The response over settings: a heat map for two of them, a line for one."""

from __future__ import annotations

from ....base.numbers import number
from ....report.charts.svg import caption, tag, text
from ....report.charts.svg import number as coordinate
from .picture import Facet, Spot

__all__ = ["response_chart"]

CELL_W, CELL_H, LEFT, TOP = 58, 30, 92, 34
LINE_H = 150


def response_chart(panel: Facet, title: str, describe: str) -> str:
    """Return the panel as SVG: a map where two settings span it, else a line through its values."""
    if panel.across is None:
        return ""
    drawn = _map(panel) if panel.down is not None else _line(panel)
    columns = len(panel.across.values)
    height = TOP + (CELL_H * len(panel.down.values) if panel.down else LINE_H) + 8
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
            drawn += _cell(panel.spots.get((column, row)), LEFT + CELL_W * i, y)
    return drawn


def _cell(spot: Spot | None, x: float, y: float) -> list[str]:
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


def _line(panel: Facet) -> list[str]:
    assert panel.across is not None
    spots = [panel.spots.get((value, "")) for value in panel.across.values]
    most = max((spot.relative for spot in spots if spot and spot.relative is not None), default=1.0)
    floor = TOP + LINE_H
    drawn = [*_heads(panel), tag("line", x1=LEFT, x2=LEFT + CELL_W * len(spots), y1=floor, y2=floor, class_="zero")]
    points: list[tuple[float, float]] = []
    marks: list[str] = []
    for i, spot in enumerate(spots):
        x = LEFT + CELL_W * (i + 0.5)
        if spot is None or spot.relative is None:
            mark = "✗" if spot is not None and spot.out else "·"
            marks.append(text(mark, x=x, y=floor - 4, text_anchor="middle"))
            continue
        y = floor - (LINE_H - 22) * spot.relative / most
        points.append((x, y))
        marks.append(tag("circle", caption(spot.stack), cx=x, cy=y, r=5 if spot.best else 3.5, class_="dot"))
        marks.append(text(number(spot.relative), x=x, y=y - 8, text_anchor="middle", class_="value"))
    if points:
        path = "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points)
        drawn.append(tag("path", d=path, class_="line"))
    return [*drawn, *marks]
