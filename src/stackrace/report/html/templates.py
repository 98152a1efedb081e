"""How every page is made from its templates: foreign text is escaped, and a name that is not there is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, select_autoescape

from ...base.text import one_line, printable
from . import marks

__all__ = ["FOLDER", "environment"]

FOLDER = Path(__file__).parent
"""Of the style and the templates that all pages share."""


class _PrintableTemplate(Template):
    """Leaves no control character in the page, wherever in it foreign text stands."""

    def render(self, *args: Any, **values: Any) -> str:
        """Return the page."""
        return printable(super().render(*args, **values))


def environment(*folders: Path) -> Environment:
    """Return the templates of ``folders`` with the filters that all pages share."""
    templates = Environment(
        loader=FileSystemLoader(folders), autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    templates.template_class = _PrintableTemplate
    templates.filters.update(breakable=marks.breakable, path=marks.path, line=one_line)
    return templates
