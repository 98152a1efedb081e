"""How people start Waitress: its options."""

from __future__ import annotations

from ...model.own import CommandLine

__all__ = ["COMMAND"]

COMMAND = CommandLine(
    programs=("waitress-serve", "waitress"),
    unsaid={"connection_limit": 100, "keep_alive": 120},
    underscores=True,
    at_once=lambda settings: int(settings.get("threads", 4)),
    switches=(
        "call help ipv4 no-ipv4 ipv6 no-ipv6 expose-tracebacks no-expose-tracebacks asyncore-use-poll "
        "no-asyncore-use-poll log-socket-errors no-log-socket-errors log-untrusted-proxy-headers "
        "no-log-untrusted-proxy-headers clear-untrusted-proxy-headers no-clear-untrusted-proxy-headers"
    ),
)
