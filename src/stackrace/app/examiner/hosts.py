"""Which Host header an app accepts."""

from __future__ import annotations

from collections.abc import Sequence

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def choose_host(allowed: Sequence[str]) -> str:
    """Return a host that Django's ALLOWED_HOSTS lets pass; loopback where it may be.

    >>> choose_host(["*"]), choose_host([".example.com"]), choose_host(["shop.example.com", "localhost"])
    ('127.0.0.1', 'example.com', 'localhost')
    """
    if not allowed or "*" in allowed:
        return LOOPBACK[0]
    for host in LOOPBACK:
        if host in allowed:
            return host
    return allowed[0].lstrip(".").lower()
