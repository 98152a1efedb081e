"""A rerun in one format: a module of that name with ``export`` in it."""

from __future__ import annotations

from importlib import import_module

from ....report.exporter import Format
from ..rerun import Rerun

__all__ = ["FORMATS", "render_rerun"]

FORMATS = (Format.HTML, Format.JSON, Format.MARKDOWN)
"""The formats a rerun can be written in."""


def render_rerun(rerun: Rerun, form: Format) -> str:
    """Return the report of ``rerun`` in one of ``FORMATS``; only then its libraries are imported."""
    text: str = import_module(f".{form.name.lower()}", __package__).export(rerun)
    return text
