"""One panel of a small multiple: a fixed view box, shared scales, the other lines in faint grey behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .svg import Scale, caption, number, tag, text

WIDTH, HEIGHT = 200, 138
LEFT, RIGHT, TOP, BOTTOM = 34, 10, 16, 20
_HALF_DIGIT = 3.6
"""Approximate half width of a character of a label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One value with its limits; ``bound`` marks a value that is only a lower bound."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    bound: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Common parts of the panels of one multiple: the scales, and the labels below the axis."""

    x: Scale
    y: Scale
    x_labels: tuple[tuple[float, str], ...]

    def across(self, value: float) -> float:
        """Return the x of ``value`` in the view box."""
        return LEFT + (WIDTH - LEFT - RIGHT) * self.x.at(value)

    def down(self, value: float) -> float:
        """Return the y of ``value`` in the view box."""
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * self.y.at(value)

    def panel(self, inside: str, title: str, description: str, *, behind: str = "") -> str:
        """Return the panel with ``inside`` drawn over the shared drawing ``behind``."""
        under = tag("use", href=f"#{behind}") if behind else ""
        box = f"0 0 {WIDTH} {HEIGHT}"
        about = caption(title, description)
        return tag("svg", about, self._grid(), under, inside, class_="panel", role="img", viewBox=box)

    def marks(self, points: Sequence[Point]) -> str:
        """Return the line through ``points`` with whiskers and dots; hollow dots are lower bounds."""
        drawn = [tag("path", d=line_path(self, ((p.x, p.y) for p in points)), class_="line")]
        for p in points:
            x, y = self.across(p.x), self.down(p.y)
            if p.low is not None and p.high is not None:
                low, high = self.down(p.low), self.down(p.high)
                drawn.append(tag("line", x1=x, x2=x, y1=low, y2=high, class_="whisker"))
            drawn.append(tag("circle", cx=x, cy=y, r=3, class_="dot hollow" if p.bound else "dot"))
        return "".join(drawn)

    def curve(self, points: Sequence[tuple[float, float]]) -> str:
        """Return a dashed line through ``points``: a fitted law beside the measurements."""
        return tag("path", d=line_path(self, points), class_="law")

    def mark(self, x: float) -> str:
        """Return a vertical line at ``x`` over the panel's whole height."""
        across = self.across(x)
        return tag("line", x1=across, x2=across, y1=TOP, y2=HEIGHT - BOTTOM, class_="knee")

    def note(self, x: float, y: float, content: str) -> str:
        """Return a direct label above the point, kept inside the panel."""
        half = _HALF_DIGIT * len(content)
        across = min(WIDTH - half, max(LEFT + half, self.across(x)))
        return text(content, x=across, y=self.down(y) - 6, text_anchor="middle", class_="value")

    def _grid(self) -> str:
        floor = HEIGHT - BOTTOM
        drawn = [tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=floor, y2=floor, class_="zero")]
        for tick in self.y.ticks:
            y = self.down(tick)
            if tick != self.y.low:
                drawn.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="rule"))
            drawn.append(text(self.y.label(tick), x=LEFT - 5, y=y + 3.5, text_anchor="end"))
        taken = float("inf")
        for value, label in reversed(self.x_labels):
            x = self.across(value)
            drawn.append(tag("line", x1=x, x2=x, y1=floor, y2=floor + 3, class_="zero"))
            half = _HALF_DIGIT * len(label)
            if x + half < taken:
                drawn.append(text(label, x=x, y=HEIGHT - 5, text_anchor="middle"))
                taken = x - half
        return "".join(drawn)


def line_path(frame: Frame, points: Iterable[tuple[float, float]]) -> str:
    """Return the path data of a line through ``points``."""
    return "M" + "L".join(f"{number(frame.across(x))} {number(frame.down(y))}" for x, y in points)


def ghosts(frame: Frame, name: str, lines: Iterable[Sequence[tuple[float, float]]]) -> str:
    """Return all ``lines`` in one hidden drawing that panels reuse under the name ``name``."""
    paths = [tag("path", d=line_path(frame, points), class_="ghost") for points in lines if points]
    if not paths:
        return ""
    drawing = tag("defs", tag("g", *paths, id=name))
    return tag("svg", drawing, width=0, height=0, aria_hidden="true", class_="shared")
