"""Free TCP ports."""

from __future__ import annotations

import errno
import socket

from ..base.errors import InputError

__all__ = ["LOOPBACK", "claim", "free_port", "require_loopback"]

LOOPBACK = "127.0.0.1"


def free_port(host: str = LOOPBACK) -> int:
    """Return a port of ``host`` that nobody listens on now. Another may take it first; a launch then asks again."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def claim(port: int) -> int:
    """Return ``port`` if nobody listens on it; raises InputError naming ``--port`` otherwise."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except PermissionError as error:
            raise InputError(f"--port {port} is reserved for root; choose one above 1023") from error
        except OSError as error:
            raise InputError(
                f"--port {port} is taken by another program; choose another or leave it out"
            ) from error
    return port


def require_loopback() -> None:
    """Raise InputError where nobody reaches this machine's own address: a fresh network namespace has it down."""
    with socket.create_server((LOOPBACK, 0)) as server, socket.socket() as client:
        try:
            client.connect(server.getsockname())
        except OSError as error:
            if error.errno not in (errno.ENETUNREACH, errno.EHOSTUNREACH):
                raise
            raise InputError(
                f"the loopback interface is down, so that nothing here can be reached at {LOOPBACK}; bring it up: "
                "ip link set lo up"
            ) from error
