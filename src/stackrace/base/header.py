"""What a header of a request may be made of, so that it stays one header."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["header_fault", "host_fault", "tells_of_tls"]

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Source: RFC 9110, section 5.6.2, token."""
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""Source: RFC 9110, section 5.5, field values."""
_OF_TLS = frozenset({("x-forwarded-ssl", "on"), ("x-forwarded-protocol", "ssl"), ("front-end-https", "on")})
"""Beside ``https``, which is a value of no other header."""
_HOST = re.compile(r"[^\x00-\x20\x7f/?#@\\]+")


def header_fault(name: str, value: str) -> str:
    """Say what is wrong with a header; empty for a right one."""
    if not _NAME.fullmatch(name):
        return f"{name[:80]!r} is no header's name; it has letters, digits and hyphens"
    if _CONTROL.search(value):
        return f"the value of {name[:80]} has a line break or another control character; leave it out"
    return ""


def host_fault(host: str) -> str:
    """Say what is wrong with a Host header; empty for a right one."""
    return (
        ""
        if _HOST.fullmatch(host)
        else f"{host[:80]!r} is no host; write it like shop.example or shop.example:8000"
    )


def tells_of_tls(headers: Iterable[tuple[str, str]]) -> bool:
    """Tell whether ``headers`` say, as a proxy does under one name or another, that the client spoke TLS."""
    return any(value.lower() == "https" or (name.lower(), value.lower()) in _OF_TLS for name, value in headers)
