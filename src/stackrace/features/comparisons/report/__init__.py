"""Every report of a published comparison run again: terminal, self-contained HTML, JSON, Markdown.

Nothing heavy is imported here: ``.terminal`` needs rich, the HTML exporter jinja2.
"""

from .exporter import FORMATS, render_rerun

__all__ = ["FORMATS", "render_rerun"]
