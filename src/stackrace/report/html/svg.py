"""SVG with every attribute and text escaped, and scales with round ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from ...base.text import one_line


def tag(name: str, *children: str, **attributes: str | float | int | None) -> str:
    """Return an element; ``class_`` and ``stroke_width`` become ``class`` and ``stroke-width``, None is left out.

    ``children`` are markup already; numbers are written with at most two decimals.
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_value(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def text(content: str, **attributes: str | float | int | None) -> str:
    """Return a text element with ``content`` escaped."""
    return tag("text", escape(one_line(content)), **attributes)


def caption(title: str, description: str = "") -> str:
    """Return ``title`` and, if given, ``desc`` elements: the chart in words."""
    element = tag("title", escape(one_line(title)))
    return element + (tag("desc", escape(one_line(description))) if description else "")


def extent(per_cent: float) -> str:
    """Return a part of the whole width or height, from per cent.

    >>> extent(12.5)
    '12.50%'
    """
    return f"{per_cent:.2f}%"


def number(value: float) -> str:
    """Return ``value`` with at most two decimals, without trailing zeros."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written in ("", "-0") else written


def _value(value: str | float | int) -> str:
    return one_line(value) if isinstance(value, str) else number(value)


_STEPS = (1, 2, 2.5, 5, 10)
_NEAR = 0.6
"""Steps by which the last round tick may at most exceed the largest value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Map from ``low`` … ``high`` to 0 … 1; ``ticks`` are round values between them."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    def at(self, value: float) -> float:
        """Return the position of ``value``, clamped to 0 … 1."""
        if self.log:
            value, low, high = (math.log(max(v, 1e-12)) for v in (value, self.low, self.high))
        else:
            low, high = self.low, self.high
        return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5

    def label(self, value: float) -> str:
        """Return the tick ``value`` as written on the axis: ``500``, ``2k``, ``0.5``."""
        if abs(value) >= 10_000 or (abs(value) >= 1000 and value % 100 == 0 and max(self.ticks) >= 10_000):
            return f"{value / 1000:g}k"
        return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def linear(most: float, *, ticks: int = 4) -> Scale:
    """Return a scale from zero to ``most``, or to the next round tick where that is near.

    ``ticks`` is about how many steps it has.

    >>> linear(3700).ticks, linear(3100).high
    ((0.0, 1000.0, 2000.0, 3000.0, 4000.0), 3100)
    """
    if not (most > 0 and math.isfinite(most)):
        most = 1.0
    raw = most / ticks
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(round(s * power, 12) for s in _STEPS if s * power >= raw * 0.999)
    count = math.ceil(most / step - 1e-9)
    if count > 1 and count - most / step > _NEAR:
        count -= 1
    shown = tuple(round(step * i, 10) for i in range(count + 1))
    return Scale(low=0.0, high=max(most, shown[-1]), ticks=shown)


def logarithmic(least: float, most: float) -> Scale:
    """Return a logarithmic scale from a 1, 2 or 5 below ``least`` to one above ``most``.

    Ticks are the powers of ten when there are two or more of them, else every 1, 2 and 5.

    >>> logarithmic(2.4, 310).low, logarithmic(2.4, 310).ticks
    (2.0, (10.0, 100.0))
    """
    if not (least > 0 and most >= least and math.isfinite(most)):
        least, most = 0.1, 1.0
    exponents = range(math.floor(math.log10(least)) - 1, math.ceil(math.log10(most)) + 2)
    every = [round(mantissa * 10.0**e, 12) for e in exponents for mantissa in (1, 2, 5)]
    low = max(value for value in every if value <= least)
    high = min(value for value in every if value >= most and value > low)
    powers = tuple(10.0**e for e in exponents if low <= 10.0**e <= high)
    ticks = powers if len(powers) > 1 else tuple(value for value in every if low <= value <= high)
    return Scale(low=low, high=high, ticks=ticks, log=True)
