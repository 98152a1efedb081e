"""Which servers an app talks to: those that Python code connects to, and those that its processes are connected to.

Source: audit events table of Python's library reference; proc_pid_net(5).
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any

from .writing import descriptors, processes

MOST = 20
"""Addresses that are reported."""

_ESTABLISHED = "01"


class Connecting:
    """Hears of connections from ``watch`` on."""

    def __init__(self) -> None:
        self._places: dict[str, None] = {}

    def watch(self) -> None:
        """Listen until the process ends: a hook cannot be taken away."""
        sys.addaudithook(self._hear)

    def places(self) -> list[str]:
        """Return addresses as ``127.0.0.1:5432``, ``[::1]:6379`` or the path of a unix socket."""
        own = {inode for pid in processes() for inode in _sockets(pid)}
        return list(dict.fromkeys((*self._places, *_connected(own))))[:MOST]

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "socket.connect":
            return
        try:
            connection, address = arguments
            if connection.type == socket.SOCK_STREAM and (place := _place(address)):
                self._places[place] = None
        except Exception:
            # what the app does goes on, whatever it passed
            return


def _place(address: Any) -> str:
    if isinstance(address, tuple):
        return _written(str(address[0]), int(address[1]))
    path = os.fsdecode(address)
    return path if path.startswith("/") else ""


def _written(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _sockets(pid: int) -> Iterator[str]:
    """Yield the inodes of a process's sockets."""
    for number in descriptors(pid):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{number}")  # noqa: PTH115
        except OSError:
            continue
        if target.startswith("socket:["):
            yield target[len("socket:[") : -1]


def _connected(inodes: set[str]) -> Iterator[str]:
    """Yield where the sockets ``inodes`` are connected to over TCP."""
    for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        try:
            with open(f"/proc/self/net/{name}", encoding="ascii") as table:  # noqa: PTH123
                rows = [line.split() for line in table][1:]
        except OSError:
            continue
        for row in rows:
            if row[3] == _ESTABLISHED and row[9] in inodes:
                host, _, port = row[2].partition(":")
                yield _written(_unpacked(host, family), int(port, 16))


def _unpacked(text: str, family: int) -> str:
    """Return an address that stands as words of 32 bits, each in the machine's order of bytes."""
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    host = socket.inet_ntop(family, struct.pack(f"={len(words)}I", *words))
    return host[len("::ffff:") :] if host.startswith("::ffff:") else host
