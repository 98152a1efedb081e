"""Rendering of the servers' own configuration templates."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render"]


@cache
def _environment() -> Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("stackrace", "servers"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # nginx and Apache do not speak HTML
    )


def render(server: str, template: str, **values: object) -> str:
    """Render ``servers/<server>/<template>``; a variable nobody gave is an error, never an empty string."""
    folder = server.replace("-", "_")
    return _environment().get_template(f"{folder}/{template}").render(**values)
