"""A URL to load, taken apart: where to connect, what the Host header says, what to ask for."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, quote, urlsplit

from stackrace.model.errors import InputError

__all__ = ["Url", "parse"]

_EXAMPLE = "http://127.0.0.1:8000/path"

# What may stand in a request line; "%" keeps escapes already there. Source: RFC 3986 sections 3.3, 3.4.
_SAFE = "/%:@!$&'()*+,;=-._~?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """``address`` is an IP address and a port, ``host`` the Host header, ``path`` path and query."""

    address: tuple[str, int]
    host: str
    path: str


def parse(text: str, *, target_is_mine: bool = False) -> Url:
    """Return the parts of ``text``, its host resolved to an IP address.

    InputError: it is no http URL, or its host is unknown, or another machine without ``target_is_mine``.
    """
    parts = _split(text)
    host, port = _host(parts, text), _port(parts, text)
    address = _resolve(host, port, text)
    if not target_is_mine and not ip_address(address).is_loopback:
        raise InputError(
            f"{host} is not this machine; load only what is yours to load. If it is, say so with --target-is-mine"
        )
    path = quote(parts.path or "/", safe=_SAFE)
    if parts.query:
        path += "?" + quote(parts.query, safe=_SAFE)
    return Url(address=(address, port), host=parts.netloc.rpartition("@")[2], path=path)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no URL ({error}); write it like {_EXAMPLE}") from error
    if parts.scheme == "https":
        raise InputError("https cannot be loaded yet; load the server's http port, like http://127.0.0.1:8000/")
    if parts.scheme != "http":
        raise InputError(f"{text!r} is no http URL; write it like {_EXAMPLE}")
    if "@" in parts.netloc:
        raise InputError(f"{text!r} holds a user name; send an Authorization header instead")
    return parts


def _host(parts: SplitResult, text: str) -> str:
    if not parts.hostname or not parts.netloc.isascii():
        raise InputError(f"{text!r} names no host; write it like {_EXAMPLE}")
    return parts.hostname


def _port(parts: SplitResult, text: str) -> int:
    try:
        port = parts.port
    except ValueError as error:
        raise InputError(f"{text!r} has no valid port; ports are 1 to 65535") from error
    if port == 0:
        raise InputError(f"{text!r} has no valid port; ports are 1 to 65535")
    return port or 80


def _resolve(host: str, port: int, text: str) -> str:
    """IPv4 first: servers that listen on localhost mostly listen on 127.0.0.1 only."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InputError(f"the host of {text!r} is unknown ({error}); write it like {_EXAMPLE}") from error
    found.sort(key=lambda entry: entry[0] != socket.AF_INET)
    return str(found[0][4][0])
