"""What an export is: one format, one method."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from ..model.race import Race
from ..model.standing import Standing

__all__ = ["Exporter", "Format", "exporter"]


class Format(StrEnum):
    """The formats a result can be written in; the value is the file's suffix without its dot."""

    HTML = "html"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "md"


class Exporter(Protocol):
    """Writes a race and its standing in one format."""

    def export(self, race: Race, standing: Standing) -> str:
        """Return the whole document."""


def exporter(form: Format) -> Exporter:
    """Return the exporter for ``form``; only then its libraries are imported."""
    match form:
        case Format.HTML:
            from .html import HtmlExporter

            return HtmlExporter()
        case Format.JSON:
            from .json import JsonExporter

            return JsonExporter()
        case Format.CSV:
            from .csv import CsvExporter

            return CsvExporter()
        case Format.MARKDOWN:
            from .markdown import MarkdownExporter

            return MarkdownExporter()
