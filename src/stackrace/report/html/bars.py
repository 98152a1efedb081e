"""Horizontal bars, one SVG per table row, in per cent of the cell: with whiskers, and as strips."""

from __future__ import annotations

import math

from markupsafe import Markup

from ...base.numbers import Interval
from ...measure.load import Quantiles
from ..sheet import Column, Tone
from .svg import Scale, caption, extent, number, tag, text

_INDENT = 0.3
"""Per cent left free at the left, so that a line at zero is not cut in half."""
_SPAN = 98.4
_CENTRED = "translate(0,-7)"
"""Move of a bar 14 px high to the middle of its row."""


def _percent(scale: Scale, value: float) -> str:
    """Return the position of ``value`` in per cent of the cell."""
    return f"{number(_INDENT + _SPAN * scale.at(value))}%"


def _rules(scale: Scale) -> str:
    """Return the vertical rules at the ticks; rules of adjacent rows form one line."""
    return "".join(
        tag("line", x1=_percent(scale, tick), x2=_percent(scale, tick), y1="0", y2="100%",
            class_="zero" if tick == 0 else "rule")
        for tick in scale.ticks
    )  # fmt: skip


def interval_bar(interval: Interval, scale: Scale, title: str, *, first: bool) -> str:
    """Return one bar from zero to the estimate with a whisker over the limits; ``first`` stands out."""
    parts = [caption(title), _rules(scale)]
    width = number(_SPAN * scale.at(interval.value))
    style = "bar first" if first else "bar"
    parts.append(
        tag("rect", x=f"{_INDENT}%", y="50%", width=f"{width}%", height=14, transform=_CENTRED, class_=style)
    )
    if interval.low is not None and interval.high is not None:
        parts.append(_whisker(scale, interval.low, interval.high))
    return tag("svg", *parts, class_="cell", role="img", width="100%", height="100%")


def _whisker(scale: Scale, low: float, high: float) -> str:
    left, right = _percent(scale, low), _percent(scale, high)
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
            x=_percent(scale, tick),
            y="13",
            text_anchor=_anchor(scale, tick),
        )
        for tick in scale.ticks
    ]
    return tag("svg", *labels, class_="axis", aria_hidden="true", width="100%", height="18")


def _anchor(scale: Scale, tick: float) -> str:
    at = scale.at(tick)
    return "start" if at < 0.04 else "end" if at > 0.94 else "middle"


_DOTS = (("p50", 4.5), ("p90", 3.2), ("p99", 4.5), ("p999", 3.2))


def strip(latency: Quantiles, scale: Scale, title: str) -> str:
    """Return the strip; ``scale`` is in milliseconds. Hollow marks are only lower bounds."""
    at = {name: _percent(scale, getattr(latency, name) * 1e3) for name in ("p50", "p90", "p99", "p999", "max")}
    parts = [caption(title), _rules(scale)]
    parts.append(tag("line", x1=at["p50"], x2=at["max"], y1="50%", y2="50%", class_="range"))
    parts.append(tag("line", x1=at["p50"], x2=at["p99"], y1="50%", y2="50%", class_="range strong"))
    for name, radius in _DOTS:
        hollow = " hollow" if name in latency.censored else ""
        parts.append(tag("circle", cx=at[name], cy="50%", r=radius, class_=f"dot {name}{hollow}"))
    hollow = " hollow" if "max" in latency.censored else ""
    style = f"longest{hollow}"
    parts.append(tag("rect", x=at["max"], y="50%", width=2, height=12, transform="translate(-1,-6)", class_=style))
    return tag("svg", *parts, class_="cell", role="img", width="100%", height="100%")


_ROOM = 2.0
"""Reach of the axis, in largest differences; limits beyond it are cut."""
_CLASSES = {Tone.GOOD: "holds", Tone.WRONG: "reversed"}


def differences(column: Column) -> list[Markup]:
    """Return each interval of ``column`` in its cell's tone, on one scale with "no difference" in its middle."""
    if not column.intervals:
        return []
    at = (lambda ratio: math.log(max(ratio, 1e-9))) if column.ratios else float
    reach = _ROOM * max((abs(at(each.value)) for each in column.intervals if each), default=0.0) or 1.0

    def across(value: float) -> str:
        return extent(50 * (1 + max(-1.0, min(at(value) / reach, 1.0))))

    drawings = []
    for each, words, tone in zip(column.intervals, column.cells, column.cell_tones, strict=True):
        style = _CLASSES.get(tone, "undecided")
        drawn = [caption(words), tag("line", x1="50%", x2="50%", y1="0", y2="100%", class_="zero")]
        if each and each.low is not None and each.high is not None:
            limits = {"x1": across(each.low), "x2": across(each.high)}
            drawn.append(tag("line", **limits, y1="50%", y2="50%", class_=f"limits {style}"))
        if each:
            drawn.append(tag("circle", cx=across(each.value), cy="50%", r=5, class_=f"ours {style}"))
        drawings.append(Markup(tag("svg", *drawn, class_="cell", role="img", width="100%", height="100%")))
    return drawings
