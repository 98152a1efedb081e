"""Latency of one stack as a strip on a logarithmic scale: p50, p90, p99, p99.9 and the longest."""

from __future__ import annotations

from ...measure.load import Quantiles
from .bars import percent, rules
from .scale import Scale
from .svg import caption, tag

__all__ = ["strip"]

_DOTS = (("p50", 4.5), ("p90", 3.2), ("p99", 4.5), ("p999", 3.2))


def strip(latency: Quantiles, scale: Scale, title: str) -> str:
    """Return the strip; ``scale`` is in milliseconds. Hollow marks are only lower bounds."""
    at = {name: percent(scale, getattr(latency, name) * 1e3) for name in ("p50", "p90", "p99", "p999", "max")}
    parts = [caption(title), rules(scale)]
    parts.append(tag("line", x1=at["p50"], x2=at["max"], y1="50%", y2="50%", class_="range"))
    parts.append(tag("line", x1=at["p50"], x2=at["p99"], y1="50%", y2="50%", class_="range strong"))
    for name, radius in _DOTS:
        hollow = " hollow" if name in latency.censored else ""
        parts.append(tag("circle", cx=at[name], cy="50%", r=radius, class_=f"dot {name}{hollow}"))
    hollow = " hollow" if "max" in latency.censored else ""
    style = f"longest{hollow}"
    parts.append(tag("rect", x=at["max"], y="50%", width=2, height=12, transform="translate(-1,-6)", class_=style))
    return tag("svg", *parts, class_="cell", role="img", width="100%", height="100%")
