"""Ports for programs that tests start."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

__all__ = ["free_port"]


def free_port() -> int:
    """Return a port of loopback that nobody has, below those that the kernel gives to others meanwhile."""
    while True:
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", 20_000 + secrets.randbelow(12_000)))
            port: int = probe.getsockname()[1]
            return port
