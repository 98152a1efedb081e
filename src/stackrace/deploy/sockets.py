"""Ports and sockets of this machine: free ports and listeners. IPv4 and IPv6 of our network namespace."""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from ..base.errors import InputError
from ..stacks.servers import Endpoint

Listeners = Mapping[int, frozenset[int]]
"""Inodes of listening sockets by port."""

_LISTEN = "0A"
_NEW = "03"
"""State of connections that are not yet accepted; older kernels list them among the listeners."""


def listeners() -> Listeners:
    """Return the inodes of all listening TCP sockets by port.

    The kernel lists listeners first; the other lines, tens of thousands of connections after a race, are not read.
    Source: proc_net_tcp(5), state 0A, tenth column.
    """
    by_port: dict[int, set[int]] = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError), Path(table).open(encoding="ascii") as lines:
            next(lines, None)
            for words in takewhile(lambda words: words[3] in (_LISTEN, _NEW), map(str.split, lines)):
                if words[3] == _LISTEN:
                    by_port.setdefault(int(words[1].rpartition(":")[2], 16), set()).add(int(words[9]))
    return {port: frozenset(inodes) for port, inodes in by_port.items()}


LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """Return a free port of loopback. Another program may take it first; a launch then tries another port."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def claim(port: int, way_out: str = "choose another or leave it out") -> int:
    """Return ``port`` if nobody listens on it; otherwise raise InputError with ``--port`` and a ``way_out``."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except PermissionError as error:
            raise InputError(f"--port {port} is reserved for root; give --port {port + 8000}") from error
        except OSError as error:
            raise InputError(f"--port {port} is taken by another program; {way_out}") from error
    return port


def require_loopback() -> None:
    """Raise InputError if the loopback interface is down, as in a fresh network namespace."""
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


def accepts(endpoint: Endpoint) -> bool:
    """Tell whether ``endpoint`` accepts a connection now; the connection is closed at once."""
    family = socket.AF_UNIX if endpoint.is_unix else socket.AF_INET
    address = str(endpoint.path) if endpoint.is_unix else (endpoint.host, endpoint.port)
    with socket.socket(family) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(address)
        except OSError:
            return False
        return True
