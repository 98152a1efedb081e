"""What an export of a rerun is: one format, one method."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from ...model.comparison import Rerun

__all__ = ["Form", "RerunExporter", "rerun_exporter"]


class Form(StrEnum):
    """The formats a rerun can be written in; the value is the file's suffix without its dot."""

    HTML = "html"
    JSON = "json"
    MARKDOWN = "md"


class RerunExporter(Protocol):
    """Writes a rerun in one format."""

    def export(self, rerun: Rerun) -> str:
        """Return the whole document."""


def rerun_exporter(form: Form) -> RerunExporter:
    """Return the exporter for ``form``; only then its libraries are imported."""
    match form:
        case Form.HTML:
            from .html import HtmlExporter

            return HtmlExporter()
        case Form.JSON:
            from .json import JsonExporter

            return JsonExporter()
        case Form.MARKDOWN:
            from .markdown import MarkdownExporter

            return MarkdownExporter()
