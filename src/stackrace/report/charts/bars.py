"""Horizontal bars with whiskers, one SVG per table row, in per cent of the cell."""

from __future__ import annotations

from ...race.results.standing import Interval
from .scale import Scale
from .svg import caption, number, tag, text

__all__ = ["CENTRED", "INDENT", "SPAN", "axis", "interval_bar", "percent", "rules"]

INDENT = 0.3
"""Per cent kept free at the left, so that a line at zero is not cut in half."""
SPAN = 98.4
CENTRED = "translate(0,-7)"
"""Moves a bar 14 px high to the middle of its row."""


def percent(scale: Scale, value: float) -> str:
    """Return the position of ``value`` in per cent of the cell."""
    return f"{number(INDENT + SPAN * scale.at(value))}%"


def rules(scale: Scale) -> str:
    """Return the vertical rules at the ticks; rows that touch make them one line."""
    return "".join(
        tag("line", x1=percent(scale, tick), x2=percent(scale, tick), y1="0", y2="100%",
            class_="zero" if tick == 0 else "rule")
        for tick in scale.ticks
    )  # fmt: skip


def interval_bar(interval: Interval, scale: Scale, title: str, *, first: bool) -> str:
    """Return one bar from zero to the estimate with a whisker over the limits; ``first`` stands out."""
    parts = [caption(title), rules(scale)]
    width = number(SPAN * scale.at(interval.value))
    style = "bar first" if first else "bar"
    parts.append(
        tag("rect", x=f"{INDENT}%", y="50%", width=f"{width}%", height=14, transform=CENTRED, class_=style)
    )
    if interval.low is not None and interval.high is not None:
        parts.append(_whisker(scale, interval.low, interval.high))
    return tag("svg", *parts, class_="cell", role="img", width="100%", height="100%")


def _whisker(scale: Scale, low: float, high: float) -> str:
    left, right = percent(scale, low), percent(scale, high)
    caps = [
        tag("rect", x=x, y="50%", width=1.5, height=8, transform="translate(-0.75,-4)", class_="whisker")
        for x in (left, right)
    ]
    return tag("line", x1=left, x2=right, y1="50%", y2="50%", class_="whisker") + "".join(caps)


def axis(scale: Scale, unit: str) -> str:
    """Return the labels below the bars: round values, the unit at the last one."""
    last = scale.ticks[-1]
    labels = [
        text(
            scale.label(tick) + (f" {unit}" if tick == last else ""),
            x=percent(scale, tick),
            y="13",
            text_anchor=_anchor(scale, tick),
        )
        for tick in scale.ticks
    ]
    return tag("svg", *labels, class_="axis", aria_hidden="true", width="100%", height="18")


def _anchor(scale: Scale, tick: float) -> str:
    place = scale.at(tick)
    return "start" if place < 0.04 else "end" if place > 0.94 else "middle"
