"""What an export of a rerun is: one format, one method."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
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
    """Return the exporter for ``form``, as ``json.JsonExporter``; only then its libraries are imported."""
    module = import_module(f".{form.name.lower()}", __package__)
    made: RerunExporter = getattr(module, f"{form.name.capitalize()}Exporter")()
    return made
