"""What an export is: one format, one module of that name with one exporter in it."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import Protocol, Self

from ..model.race import Race
from ..model.standing import Standing

__all__ = ["Exporter", "Format", "exporter", "render"]


class Format(StrEnum):
    """The formats a result can be written in; the value is the file's suffix without its dot."""

    about: str
    """What it is, to be printed after "Print"."""

    def __new__(cls, suffix: str, about: str = "") -> Self:
        form = str.__new__(cls, suffix)
        form._value_ = suffix
        form.about = about
        return form

    HTML = "html", "the self-contained HTML report"
    JSON = "json", "the JSON document (schema: --schema)"
    CSV = "csv", "CSV, a line for each slice"
    MARKDOWN = "md", "Markdown, for a pull request"


class Exporter(Protocol):
    """Writes a race and its standing in one format."""

    def export(self, race: Race, standing: Standing) -> str:
        """Return the whole document."""


def exporter(form: Format) -> Exporter:
    """Return the exporter for ``form``, as ``csv.CsvExporter`` is for CSV; only then its libraries are imported."""
    module = import_module(f".{form.name.lower()}", __package__)
    made: Exporter = getattr(module, f"{form.name.capitalize()}Exporter")()
    return made


def render(race: Race, standing: Standing, form: Format | str) -> str:
    """Return the report of ``race`` in one format: ``html``, ``json``, ``csv`` or ``md`` (Markdown).

    Raises ValueError for any other.
    """
    return exporter(Format(form)).export(race, standing)
