"""Every report of a published comparison run again: terminal, self-contained HTML, JSON, Markdown.

Nothing heavy is imported here: ``.terminal`` needs rich, the HTML exporter jinja2.
"""

from .exporter import Form, RerunExporter, rerun_exporter

__all__ = ["Form", "RerunExporter", "rerun_exporter"]
