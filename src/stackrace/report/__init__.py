"""Every report of a race, all from the same standing: terminal, live view, HTML, JSON, CSV, Markdown.

Nothing heavy is imported here: ``stackrace.report.terminal`` and ``.live`` need rich, the HTML exporter
jinja2.
"""

from __future__ import annotations

from .document import FORMAT, SCHEMA, VERSION, document
from .exporter import Format, render
from .state import LiveState, Mishap

__all__ = [
    "FORMAT",
    "SCHEMA",
    "VERSION",
    "Format",
    "LiveState",
    "Mishap",
    "document",
    "render",
]
