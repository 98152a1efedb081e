"""Syntax of headers, paths and URL prefixes, as users write them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, unquote, unquote_to_bytes, urlsplit

from .errors import InputError

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Source: RFC 9110, section 5.6.2, token."""
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""Source: RFC 9110, section 5.5, field values."""
_OF_TLS = frozenset({("x-forwarded-ssl", "on"), ("x-forwarded-protocol", "ssl"), ("front-end-https", "on")})
"""Headers and values that mean TLS; the value ``https`` means TLS in every header."""
_HOST = re.compile(r"[^\x00-\x20\x7f/?#@\\]+")


def header_fault(name: str, value: str) -> str:
    """Return what is wrong with a header; empty if it is valid."""
    if not _NAME.fullmatch(name):
        return f"{name[:80]!r} is no header's name; it has letters, digits and hyphens"
    if _CONTROL.search(value):
        return f"the value of {name[:80]} has a line break or another control character; leave it out"
    return ""


def host_fault(host: str) -> str:
    """Return what is wrong with a Host header; empty if it is valid."""
    return (
        ""
        if _HOST.fullmatch(host)
        else f"{host[:80]!r} is no host; write it like shop.example or shop.example:8000"
    )


def client_used_tls(headers: Iterable[tuple[str, str]]) -> bool:
    """Tell whether ``headers`` say that the client used TLS, as proxies report it."""
    return any(value.lower() == "https" or (name.lower(), value.lower()) in _OF_TLS for name, value in headers)


_NOT_QUOTED = "/%:@!$&'()*+,;=?-._~#[]|\\\"<>^`{}"
"""Characters that are not quoted: characters that a URL may contain, and others that servers accept."""


def path_fault(path: str) -> str:
    """Return what is wrong with ``path`` and what to write instead; empty if it is valid.

    >>> path_fault("/a b")
    'may not have blanks; write /a%20b'
    """
    if "://" in path:
        parts = urlsplit(path)
        right = _quoted(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}")
        return f"must start with /, without scheme and host; write {right}"
    if not path.startswith("/"):
        return f"must start with /; write {_quoted('/' + path)}"
    if (right := _quoted(path)) == path:
        return ""
    return f"may not have {'blanks' if path.isascii() else 'blanks, nor letters beyond ASCII'}; write {right}"


def _quoted(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"), safe=_NOT_QUOTED)


_MARKS = "-._~+@,:/"
"""Characters of a prefix besides letters and digits; no server's configuration uses them as syntax."""
_BROKEN_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})|%2[Ff]")


def _url_prefix(text: str) -> str:
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
    """Return ``static`` with its keys normalised by ``_url_prefix``, longest first: servers take the first match.

    Raises InputError, also for two spellings of one prefix.
    """
    folders: dict[str, Path] = {}
    for text, folder in static.items():
        prefix = _url_prefix(text)
        if prefix in folders:
            raise InputError(f"{text!r} and another key are both the prefix {prefix!r}; keep one of them")
        folders[prefix] = folder
    return dict(sorted(folders.items(), key=lambda item: -len(item[0])))


def is_below(path: str, prefixes: Iterable[str]) -> bool:
    """Tell whether a request's ``path`` is below one of ``prefixes``, as servers see it."""
    return unquote(path.partition("?")[0]).startswith(tuple(prefixes))


def _is_allowed(character: str) -> bool:
    return character in _MARKS or unicodedata.category(character)[0] in "LMN"
