"""Remedies that several checks share."""

from __future__ import annotations

__all__ = ["ANOTHER_CORE", "CACHE_BETWEEN", "LOWER_CONCURRENCY", "MORE_FILES", "MORE_PORTS", "OWN_CORE", "QUEUES"]

OWN_CORE = "{knob.own_core}"
ANOTHER_CORE = "{knob.another_core}; or a lower rate"
LOWER_CONCURRENCY = "lower {knob.concurrency} ({clients})"
MORE_PORTS = "sysctl net.ipv4.ip_local_port_range='1024 65535' net.ipv4.tcp_tw_reuse=2"
MORE_FILES = "raise `ulimit -n` and its maximum, nofile in /etc/security/limits.conf"
CACHE_BETWEEN = "a cache answers between client and server: switch it off, or load the server behind it"
_BACKLOG = "raise the server's backlog and its maximum, net.core.somaxconn"
QUEUES = {
    "kept": f"{_BACKLOG}; or {LOWER_CONCURRENCY}",
    "closed": f"{_BACKLOG}; or {{knob.keep}}, so that connections are not opened per request",
}
"""Where connections were lost: by whether they are kept."""
