"""Rendering of the servers' own configuration templates."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render"]


@cache
def _environment(folders: tuple[Path, ...]) -> Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # nginx and Apache do not speak HTML
    )


def render(folders: tuple[Path, ...], template: str, **values: object) -> str:
    """Render ``template`` out of the first of ``folders`` that has it.

    A variable nobody gave is an error, never an empty string.
    """
    return _environment(folders).get_template(template).render(**values)
