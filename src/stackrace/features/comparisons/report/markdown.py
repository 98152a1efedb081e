"""A rerun as Markdown: for ``docs/historic/NAME.md``, or to paste into a discussion."""

from __future__ import annotations

from ....report.markdown import drawn
from ..rerun import Rerun
from .sheet import rerun_sheet

__all__ = ["export"]


def export(rerun: Rerun) -> str:
    """Return the document; foreign text is escaped."""
    return drawn(rerun_sheet(rerun), heading="##")
