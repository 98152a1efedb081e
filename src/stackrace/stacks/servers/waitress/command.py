"""How people start Waitress: its options."""

from __future__ import annotations

from collections.abc import Mapping

from ...native_options import CommandLine

__all__ = ["COMMAND"]


def _at_once(settings: Mapping[str, str | int | bool]) -> int:
    """Return how many requests it works on at once: one in each thread."""
    return int(settings.get("threads", 4))


COMMAND = CommandLine(
    programs=("waitress-serve", "waitress"),
    unsaid={"connection_limit": 100, "keep_alive": 120},
    underscores=True,
    at_once=_at_once,
    switches=(
        "call help ipv4 no-ipv4 ipv6 no-ipv6 expose-tracebacks no-expose-tracebacks asyncore-use-poll "
        "no-asyncore-use-poll log-socket-errors no-log-socket-errors log-untrusted-proxy-headers "
        "no-log-untrusted-proxy-headers clear-untrusted-proxy-headers no-clear-untrusted-proxy-headers"
    ),
)
