"""One line of an access log, in the common or the combined format.

``client identity user [time] "request line" status bytes "referer" "user agent"``; the last two are the combined
format's, and whatever follows is of no interest. Sources: Apache mod_log_config; nginx ngx_http_log_module.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ....measure.engine.url import is_address
from .moments import log_time

_TIME = re.compile(rb" \[(\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]")
_QUOTED = rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_AFTER_TIME = re.compile(
    rb" " + _QUOTED + rb" (-|\d{1,9}) (?:-|\d{1,19})(?![^ ])(?: " + _QUOTED + rb"(?: " + _QUOTED + rb")?)?",
    re.DOTALL,
)
_ESCAPE = re.compile(rb'\\(x[0-9A-Fa-f]{2}|["\\btnvr])')
_MEANT = {b'"': b'"', b"\\": b"\\", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"r": b"\r"}

_is_address = lru_cache(maxsize=4096)(is_address)


class LogLine(NamedTuple):
    """What a line says."""

    client: bytes
    time_ns: int
    """Since 1970, whole seconds."""
    request: bytes
    status: int
    """0 if there was none."""
    referer: bytes | None
    user_agent: bytes | None


def parse_line(text: bytes) -> LogLine | None:
    """Read a line without its end; None if it is of neither format."""
    # a user name may hold spaces and brackets, so the first brackets that hold a time count
    for around in _TIME.finditer(text):
        time_ns = log_time(around[1])
        if time_ns is not None:
            break
    else:
        return None
    client = _client(text[: around.start()])
    match = _AFTER_TIME.match(text, around.end())
    if client is None or match is None:
        return None
    request, status, referer, user_agent = match.groups()
    number = 0 if status == b"-" else int(status)
    if number > 65535:
        return None
    return LogLine(client, time_ns, _plain(request), number, _optional(referer), _optional(user_agent))


def _client(before: bytes) -> bytes | None:
    """Return the first word; the second where the first names a virtual host, as in Debian's ``vhost_combined``."""
    words = before.split(b" ", 3)
    if len(words) < 3:
        return None
    first, second, third = words[:3]
    client = second if second != b"-" and third and _is_address(second) else first
    return client or None


def _optional(field: bytes | None) -> bytes | None:
    return None if field is None or field == b"-" else _plain(field)


def _plain(field: bytes) -> bytes:
    r"""Undo a field's escapes; what nobody writes stands for itself.

    Apache writes ``\"``, ``\\``, ``\n`` and the like, and ``\xhh``; nginx writes ``\xHH`` only. Source: Apache's
    ``ap_escape_logitem``, nginx's ``escape=default``.
    """
    return _ESCAPE.sub(_unescape, field) if b"\\" in field else field


def _unescape(match: re.Match[bytes]) -> bytes:
    kind = match[1]
    return bytes.fromhex(kind[1:].decode()) if kind.startswith(b"x") else _MEANT[kind]
