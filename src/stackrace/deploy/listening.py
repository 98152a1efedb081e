"""Whether somebody accepts connections at an endpoint."""

from __future__ import annotations

import socket

from ..stacks.servers import Endpoint

__all__ = ["accepts"]


def accepts(endpoint: Endpoint) -> bool:
    """Tell whether a connection to ``endpoint`` is accepted now; it is closed again at once."""
    family = socket.AF_UNIX if endpoint.is_unix else socket.AF_INET
    address = str(endpoint.path) if endpoint.is_unix else (endpoint.host, endpoint.port)
    with socket.socket(family) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(address)
        except OSError:
            return False
        return True
