"""URLs taken apart, and request targets made fit for a request line."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import quote, quote_plus

_URL = re.compile(rb"(https?)://([^/?#\\]*)(.*)", re.IGNORECASE | re.DOTALL)
_SERVER = re.compile(rb"(\[([^\]]*)\]|[A-Za-z0-9\-._~]+)(?::(\d*))?")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(rb"/[A-Za-z0-9/%:@!$&'()*+,;=?._~\-]*")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]+")


class Address(NamedTuple):
    """Where an http or https URL points to."""

    origin: str
    """Scheme, host and port in lower case, without a default port. Source: RFC 6454 section 4."""
    path: str
    """Path and query."""


def split_url(url: bytes) -> Address | None:
    """Take an absolute http or https URL apart; None for anything else. A user name and a fragment are dropped."""
    match = _URL.fullmatch(url)
    if match is None or not _is_utf_8(match[2]):
        return None
    scheme = match[1].decode().lower()
    server = _SERVER.fullmatch(match[2].rpartition(b"@")[2])
    if server is None or (server[2] is not None and not _is_ip_6(server[2].decode())):
        return None
    port = int(server[3][-6:]) if server[3] else _DEFAULT_PORTS[scheme]
    if port > 65535:
        return None
    shown = "" if port == _DEFAULT_PORTS[scheme] else f":{port}"
    return Address(f"{scheme}://{server[1].decode().lower()}{shown}", origin_form(match[3]))


def origin_form(target: bytes) -> str:
    """Return path and query as they may stand in a request line: a slash in front, no fragment, percent-encoded.

    Escapes already there are kept. Source: RFC 9112 section 3.2.1; RFC 3986 sections 3.3 and 3.4.
    """
    if _PLAIN.fullmatch(target):
        return target.decode()
    path = quote(target.partition(b"#")[0], safe="/%:@!$&'()*+,;=?")
    return path if path.startswith("/") else f"/{path}"


def form_encoded(part: str | bytes) -> str:
    """Return a name or a value as forms have it. Source: URL Standard, section 5.2."""
    return quote_plus(part, safe="*").replace("~", "%7E")


def is_token(text: str) -> bool:
    """Tell whether ``text`` is a token, as methods and header names are. Source: RFC 9110 section 5.6.2."""
    return _TOKEN.fullmatch(text) is not None


def is_address(text: bytes) -> bool:
    """Tell whether ``text`` is an IP address."""
    try:
        ip_address(text.decode())
    except ValueError:
        return False
    return True


def _is_ip_6(text: str) -> bool:
    try:
        return IPv6Address(text).scope_id is None
    except ValueError:
        return False


def _is_utf_8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
