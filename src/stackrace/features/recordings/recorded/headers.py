"""Which recorded request headers can be sent again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....measure.engine.url import is_token
from .step import Headers

_OF_THE_CONNECTION = frozenset(
    {
        "alt-used",
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Owned by the recorded connection, or set anew by whoever sends.

Source: RFC 9110 section 7.6.1; RFC 7838 section 5 for Alt-Used, RFC 9113 section 8.2.2 for Proxy-Connection and
HTTP2-Settings."""

_OF_THE_CACHE = frozenset({"if-modified-since", "if-none-match", "if-range"})
"""Owned by the browser's cache, which a new visitor does not have. If-Match and If-Unmodified-Since are not among
them: with these an application guards what it writes. Source: RFC 9110 section 13.1."""

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def replayable(recorded: Sequence[tuple[str, str]]) -> Headers:
    """Return the headers to replay, in their order.

    Dropped are those of the connection and those that Connection names, conditions set by a cache, the
    pseudo-headers of HTTP/2 (they start with a colon), and any that could not be a header at all.
    """
    dropped = _OF_THE_CONNECTION | _OF_THE_CACHE | _connection_options(recorded)
    stripped = ((name, value.strip()) for name, value in recorded)
    return tuple(
        (name, value)
        for name, value in stripped
        if name.lower() not in dropped and is_token(name) and is_value(value)
    )


def is_value(text: str) -> bool:
    """Tell whether ``text`` stays in its line. Source: RFC 9110 section 5.5."""
    return _CONTROL.search(text) is None


def value_of(headers: Sequence[tuple[str, str]], name: str) -> str | None:
    """Return the value of the first header called ``name``, which is in lower case."""
    return next((value.strip() for other, value in headers if other.lower() == name), None)


def _connection_options(recorded: Sequence[tuple[str, str]]) -> frozenset[str]:
    values = (value for name, value in recorded if name.lower() == "connection")
    return frozenset(option.strip().lower() for value in values for option in value.split(","))
