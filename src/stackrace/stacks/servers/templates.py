"""Text of the servers' configurations: plain or quoted, and rendered from their templates.

The value of ``{{ }}`` must be plain (see ``PLAIN``) or quoted in the server's syntax; anything else is an error.
So a template that forgets to quote cannot render text with another meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.errors import LaunchError

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.runtime import Context

PLAIN = re.compile("[A-Za-z0-9_./-]*")
"""Plain text: no blank or quote, and none of ``$ % = : , ; # @ { } \\``, which are syntax for some server."""


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that end a line in some syntax, or that UTF-8 cannot encode."""


def in_quotes(text: str, *, escaped: str = '"', never: tuple[str, ...] = ()) -> str:
    r"""Return ``text`` in double quotes, with a ``\`` before each of the characters in ``escaped``.

    Raises LaunchError for a control character or one of ``never``, which has a meaning even in quotes.
    """
    return '"' + "".join(f"\\{sign}" if sign in escaped else sign for sign in _allowed(text, never)) + '"'


def in_yaml(text: str) -> str:
    """Return ``text`` as a string of YAML and JSON; raises LaunchError for a control character."""
    return json.dumps(_allowed(text, ()), ensure_ascii=False)


def to_the_end(text: str, *, never: tuple[str, ...] = ()) -> str:
    """Return ``text`` for a syntax without quotes, where a value extends to the end of its line.

    Raises LaunchError for a control character, blanks at its ends, or one of ``never``.
    """
    if text != text.strip():
        raise LaunchError(f"{text!r} begins or ends with a blank, which this server's configuration cannot say")
    return _allowed(text, never)


def _allowed(text: str, never: tuple[str, ...]) -> str:
    unwanted = _CONTROL.search(text)
    sign = unwanted[0] if unwanted else next((part for part in never if part in text), "")
    if sign:
        raise LaunchError(f"{text!r} has {sign!r}, which this server's configuration cannot say; rename it")
    return text


ANY = "application/octet-stream"
"""MIME type of files with an unlisted suffix."""

MIME_TYPES = {
    "text/html": ("html", "htm"),
    "text/plain": ("txt",),
    "text/css": ("css",),
    "text/javascript": ("js",),
    "text/csv": ("csv",),
    "application/json": ("json", "map"),
    "application/pdf": ("pdf",),
    "application/wasm": ("wasm",),
    "text/xml": ("xml",),
    "image/png": ("png",),
    "image/jpeg": ("jpg", "jpeg"),
    "image/gif": ("gif",),
    "image/svg+xml": ("svg",),
    "image/webp": ("webp",),
    "image/x-icon": ("ico",),
    "font/woff": ("woff",),
    "font/woff2": ("woff2",),
    "video/mp4": ("mp4",),
}
"""File suffixes by MIME type."""


_Quote = Callable[[str], str]
"""Function that returns a text as a server's configuration writes it; raises LaunchError if it cannot be
written."""

_BARE = re.compile("[A-Za-z0-9_./:-]*")
_ENDS_LINE = re.compile("[\x00-\x1f\x7f]")


class Rendered(str):
    """Text of a server's configuration, inserted into another template unchanged."""

    __slots__ = ()


@cache
def _environment(folders: tuple[Path, ...], quote: _Quote) -> Environment:
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
    if _ENDS_LINE.search(str(value)):
        raise LaunchError(f"{str(value)!r} has a control character, which would end its line of the configuration")
    return Rendered(value)


def render(folders: tuple[Path, ...], template: str, quote: _Quote, **values: object) -> Rendered:
    """Render ``template`` from the first of ``folders`` that has it; the filter ``| quoted`` calls ``quote``.

    A missing variable is an error, never an empty string, and so is a value that needs quotes and has none.
    """
    return Rendered(_environment(folders, quote).get_template(template).render(**values))
