"""A rerun as Markdown: for ``docs/historic/NAME.md``, or to paste into a discussion."""

from __future__ import annotations

from ...model.rerun import Rerun
from ..markdown import drawn
from .sheet import rerun_sheet

__all__ = ["MarkdownExporter"]


class MarkdownExporter:
    """Writes the publication, how it was run again, the claims, what follows, then and now, and what is gone."""

    def export(self, rerun: Rerun) -> str:
        """Return the document; foreign text is escaped."""
        return drawn(rerun_sheet(rerun), heading="##")
