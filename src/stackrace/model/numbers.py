"""How numbers are written."""

from __future__ import annotations

import math

__all__ = ["about", "connections", "digits", "mebibytes", "milliseconds", "percent"]


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


def connections(number: int) -> str:
    """Return a number of connections: ``1 connection``, ``20 connections``."""
    return f"{number} connection{'' if number == 1 else 's'}"


def about(seconds: float) -> str:
    """Write a duration that is only an estimate, rounded up: ``80 s``, ``14 min``."""
    return f"{math.ceil(seconds)} s" if seconds < 100 else f"{math.ceil(seconds / 60)} min"
