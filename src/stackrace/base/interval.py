"""An estimate with its limits."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its limits, which are None while too few launches allow any."""

    value: float
    """The estimate."""
    low: float | None = None
    """The lower limit."""
    high: float | None = None
    """The upper limit."""
