"""Rendering of the servers' own configuration templates, into which no value comes unquoted.

What ``{{ }}`` puts out is plain (see ``plain``), or it was quoted as the server's syntax has it, or it is an error:
a template that forgets to quote does not render what could mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.errors import LaunchError

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.runtime import Context

__all__ = ["Quote", "Rendered", "render"]

Quote = Callable[[str], str]
"""Returns a text as a server's configuration writes it; raises LaunchError for one that it cannot write."""

_BARE = re.compile("[A-Za-z0-9_./:-]*")
"""Plain, or an address with its port."""
_CONTROL = re.compile("[\x00-\x1f\x7f]")


class Rendered(str):
    """Text of a server's configuration, which goes into another template as it is."""

    __slots__ = ()


@cache
def _environment(folders: tuple[Path, ...], quote: Quote) -> Environment:
    import jinja2
    from jinja2.filters import do_indent, do_trim
    from markupsafe import Markup

    @jinja2.pass_context
    def written(context: Context, value: object) -> object:
        if isinstance(value, (Rendered, Markup)):  # Markup comes from tojson
            return value
        if not _BARE.fullmatch(str(value)):
            raise LaunchError(
                f"{context.name} cannot hold {str(value)!r} as it is; quote it there: {{{{ … | quoted }}}}, or "
                "{{ … | own }} what is the user's, in the server's own language"
            )
        return str(value)

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # nginx and Apache do not speak HTML
        finalize=written,
    )
    environment.filters["quoted"] = lambda value: Rendered(quote(str(value)))
    environment.filters["own"] = _own
    environment.filters["trim"] = lambda text: type(text)(do_trim(text))
    environment.filters["indent"] = lambda text, *how, **more: type(text)(do_indent(text, *how, **more))
    return environment


def _own(value: object) -> Rendered:
    """Let the user's own words into a configuration, on one line."""
    if _CONTROL.search(str(value)):
        raise LaunchError(f"{str(value)!r} has a control character, which would end its line of the configuration")
    return Rendered(value)


def render(folders: tuple[Path, ...], template: str, quote: Quote, **values: object) -> Rendered:
    """Render ``template`` out of the first of ``folders`` that has it; ``| quoted`` quotes by ``quote`` there.

    A variable nobody gave is an error, never an empty string, and so is one that would need quotes and has none.
    """
    return Rendered(_environment(folders, quote).get_template(template).render(**values))
