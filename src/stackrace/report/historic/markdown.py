"""A rerun as Markdown: for ``docs/historic/NAME.md``, or to paste into a discussion."""

from __future__ import annotations

from ...model.rerun import Rerun
from ..markdown import drawn
from .sheet import rerun_sheet

__all__ = ["export"]


def export(rerun: Rerun) -> str:
    """Return the document; foreign text is escaped."""
    return drawn(rerun_sheet(rerun), heading="##")
