"""URL prefixes below which a front end sends files by itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from .errors import InputError

__all__ = ["by_prefix", "is_below", "url_prefix"]

_MARKS = "-._~+@,:/"
"""What a prefix may have beside letters and digits: no server's configuration means anything by it."""
_BROKEN_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})|%2[Ff]")


def url_prefix(text: str) -> str:
    """Return ``text``, written as in a URL, as servers compare it: percent-decoded, with a ``/`` at its end.

    Without that ``/``, ``/static`` would also match ``/static../settings.py``. Raises InputError with the reason.
    """
    if _BROKEN_ESCAPE.search(text):
        raise InputError(f"{text!r} has a % without two hexadecimal digits, or with 2F; write slashes as they are")
    try:
        prefix = unquote_to_bytes(text).decode().rstrip("/") + "/"
    except UnicodeError as error:
        raise InputError(f"{text!r} is not UTF-8; rename the prefix") from error
    if not prefix.startswith("/") or prefix == "/":
        raise InputError(f'{text!r} must start with / and name a part of the site, as "/static/" does')
    if {"", ".", ".."} & set(prefix[1:-1].split("/")):
        raise InputError(f"{text!r} has an empty part, . or .. between its slashes; browsers ask for none of them")
    unwanted = next((character for character in prefix if not _is_allowed(character)), "")
    if unwanted:
        raise InputError(f"{text!r} has {unwanted!r}; a prefix may have letters, digits and - . _ ~ + @ , :")
    return prefix


def by_prefix(static: Mapping[str, Path]) -> dict[str, Path]:
    """Return ``static`` by what ``url_prefix`` makes of its keys, the longest first: servers take the first match.

    Raises InputError, also for two spellings of one prefix.
    """
    folders: dict[str, Path] = {}
    for text, folder in static.items():
        prefix = url_prefix(text)
        if prefix in folders:
            raise InputError(f"{text!r} and another key are both the prefix {prefix!r}; keep one of them")
        folders[prefix] = folder
    return dict(sorted(folders.items(), key=lambda item: -len(item[0])))


def is_below(path: str, prefixes: Iterable[str]) -> bool:
    """Tell whether a request's ``path`` is below one of ``prefixes``, as servers see it."""
    return unquote(path.partition("?")[0]).startswith(tuple(prefixes))


def _is_allowed(character: str) -> bool:
    return character in _MARKS or unicodedata.category(character)[0] in "LMN"
