"""A trend as Markdown."""

from __future__ import annotations

from ...model.trend import Trend
from ..markdown import drawn
from .sheet import trend_sheet

__all__ = ["export"]


def export(trend: Trend) -> str:
    """Return the document; foreign text is escaped."""
    return drawn(trend_sheet(trend), heading="##")
