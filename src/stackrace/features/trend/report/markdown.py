"""A trend as Markdown."""

from __future__ import annotations

from ....report.markdown import drawn
from ..model import Trend
from .sheet import trend_sheet

__all__ = ["export"]


def export(trend: Trend) -> str:
    """Return the document; foreign text is escaped."""
    return drawn(trend_sheet(trend), heading="##")
