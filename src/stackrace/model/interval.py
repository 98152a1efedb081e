"""An estimate with its limits."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its limits; ``low`` and ``high`` are None while too few launches allow any."""

    value: float
    low: float | None = None
    high: float | None = None
