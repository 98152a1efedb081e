"""What a proxy before a stack says of the client: X-Forwarded-For, X-Forwarded-Proto and their kin.

A race has no such proxy, but its requests may say what one would have said: an https-only site is asked with the
header that its settings trust. Nobody else reaches a stack, so every server is told to trust whoever speaks to it,
and no front end may put its own words in the place of those that came.
"""

from __future__ import annotations

__all__ = ["ANYBODY", "MOST_PROXIES", "OTHERS"]

ANYBODY = "*"
"""Whom servers that name the proxies they trust are to trust: over unix sockets a client has no address at all."""

MOST_PROXIES = 16
"""How many proxies a server that counts them is to believe, so that it drops nothing of what they said."""

OTHERS = ("X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Ssl", "Forwarded")
"""What apps may believe of a proxy beside X-Forwarded-For and X-Forwarded-Proto, which every front end knows."""
