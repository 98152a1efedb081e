"""What an export of a rerun is: one format, one method."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from ...model.rerun import Rerun
from ..exporter import Format

__all__ = ["FORMATS", "RerunExporter", "rerun_exporter"]

FORMATS = (Format.HTML, Format.JSON, Format.MARKDOWN)
"""The formats a rerun can be written in."""


class RerunExporter(Protocol):
    """Writes a rerun in one format."""

    def export(self, rerun: Rerun) -> str:
        """Return the whole document."""


def rerun_exporter(form: Format) -> RerunExporter:
    """Return the exporter for ``form``, one of ``FORMATS``, as ``json.JsonExporter``; only then its libraries are
    imported."""
    module = import_module(f".{form.name.lower()}", __package__)
    made: RerunExporter = getattr(module, f"{form.name.capitalize()}Exporter")()
    return made
