"""How far an engine is from a stack's machine: echoes over TCP, on the kind of port that stacks listen on."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

__all__ = ["answer_echoes", "round_trip_s"]

ECHOES = 20
"""The shortest of so many counts: the others waited for somebody."""
PATIENCE_S = 5.0


def answer_echoes(host: str) -> int:
    """Answer the echoes of whoever connects within the next seconds; returns the port on ``host``."""
    listening = socket.create_server((host, 0), backlog=128)
    listening.settimeout(PATIENCE_S)
    threading.Thread(target=_serve, args=(listening,), daemon=True).start()
    port: int = listening.getsockname()[1]
    return port


def _serve(listening: socket.socket) -> None:
    with listening, suppress(OSError):
        while True:
            peer, _ = listening.accept()
            with peer, suppress(OSError):
                peer.settimeout(PATIENCE_S)
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while byte := peer.recv(1):
                    peer.sendall(byte)


def round_trip_s(address: tuple[str, int]) -> float:
    """Return the shortest round trip of one byte to ``address`` and back, in seconds.

    Raises OSError where nobody is reached there.
    """
    with socket.create_connection(address, timeout=PATIENCE_S) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return min(_echo(peer) for _ in range(ECHOES))


def _echo(peer: socket.socket) -> float:
    begun_s = time.monotonic()
    peer.sendall(b".")
    if not peer.recv(1):
        raise ConnectionResetError("the connection was closed")
    return time.monotonic() - begun_s
