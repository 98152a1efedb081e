"""How the configurations of servers write a text that is not plain; what they cannot write is refused by name."""

from __future__ import annotations

import json
import re

from ..model.errors import LaunchError

__all__ = ["in_quotes", "in_yaml", "to_the_end"]

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Ends a line somewhere, or is no character that UTF-8 knows."""


def in_quotes(text: str, *, escaped: str = '"', never: tuple[str, ...] = ()) -> str:
    r"""Return ``text`` in double quotes, a ``\`` before each of the characters in ``escaped``.

    Raises LaunchError where it has a control character or one of ``never``, which mean something even in quotes.
    """
    return '"' + "".join(f"\\{sign}" if sign in escaped else sign for sign in _allowed(text, never)) + '"'


def in_yaml(text: str) -> str:
    """Return ``text`` as a string of YAML and JSON; raises LaunchError where it has a control character."""
    return json.dumps(_allowed(text, ()), ensure_ascii=False)


def to_the_end(text: str, *, never: tuple[str, ...] = ()) -> str:
    """Return ``text`` for a syntax without quotes, where a value goes to the end of its line.

    Raises LaunchError where it has a control character, blanks at its ends, or one of ``never``.
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
