"""The turns of phrase that all sentences about a standing share: names, ratios, percentages, load levels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...model.load import Load
from ...model.standing import Interval

__all__ = [
    "about",
    "clients",
    "digits",
    "mebibytes",
    "milliseconds",
    "names",
    "percent",
    "sentence",
    "share",
    "times",
]

_FRACTIONS = (("a quarter of ", 0.23, 0.27), ("a third of ", 0.31, 0.36), ("half ", 0.47, 0.53))
"""Ratios that have a name, and how far it reaches."""


def sentence(text: str, stacks: Sequence[str]) -> str:
    """Begin with a capital, unless a stack's name comes first; end with a full stop."""
    named = text.split(" ", 1)[0] in stacks
    return (text if named else text[:1].upper() + text[1:]) + "."


def names(stacks: Sequence[str]) -> str:
    """Name up to four stacks, of more the first three."""
    named = list(stacks) if len(stacks) <= 4 else [*stacks[:3], f"{len(stacks) - 3} more"]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def times(ratio: Interval) -> str:
    """Word a ratio with its limits: ``1.28× (1.24–1.33)``."""
    if ratio.low is None or ratio.high is None:
        return f"{digits(ratio.value)}×"
    return f"{digits(ratio.value)}× ({digits(ratio.low)}–{digits(ratio.high)})"


def share(ratio: float) -> str:
    """Word a ratio of costs so that a noun may follow: ``a third of ``, ``2.4× ``, ``about ``."""
    for word, low, high in _FRACTIONS:
        if low <= ratio <= high:
            return word
    return f"{digits(ratio)}× " if abs(ratio - 1) >= 0.05 else "about "


def digits(value: float) -> str:
    """Write a ratio or a small figure with about three digits."""
    if value < 0.1:
        return f"{value:.2g}" if value > 1e-4 else "0"
    return f"{value:.2f}" if value < 10 else f"{value:.0f}" if value < 1000 else "over 1000"


def percent(fraction: float) -> str:
    """Write ``fraction`` (0.04) as ``4 %``, two digits below ten."""
    return f"{100 * fraction:.2g} %" if fraction < 0.1 else f"{100 * fraction:.0f} %"


def milliseconds(seconds: float) -> str:
    """Write a latency: ``12 ms``, ``0.46 ms``."""
    value = seconds * 1e3
    return f"{value:.0f} ms" if value >= 10 else f"{value:.2g} ms"


def mebibytes(size: float) -> str:
    """Write an amount of memory: ``410 MiB``."""
    return f"{size / 1024**2:,.0f} MiB" if size >= 10 * 1024**2 else f"{size / 1024**2:.2g} MiB"


def clients(load: Load) -> str:
    """Name a load level within a sentence: ``1 connection``, ``20 connections``."""
    return f"{load.concurrency} connection{'' if load.concurrency == 1 else 's'}"


def about(seconds: float) -> str:
    """Write a duration that is only an estimate, rounded up: ``80 s``, ``14 min``."""
    return f"{math.ceil(seconds)} s" if seconds < 100 else f"{math.ceil(seconds / 60)} min"
