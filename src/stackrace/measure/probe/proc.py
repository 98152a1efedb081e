"""Files and connections that processes have open; a process may vanish between two calls."""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _OpenFiles:
    sockets: frozenset[int]
    """Inodes of open sockets."""
    watches_files: bool
    """True if the process has an inotify instance."""


def open_files(pid: int) -> _OpenFiles | None:
    """Return the open files of ``pid``; None if this is not permitted, no files if the process is gone.

    Source: proc_pid_fd(5).
    """
    links = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 (names only, and many)
            with suppress(FileNotFoundError):
                links.add(os.readlink(f"/proc/{pid}/fd/{name}"))  # noqa: PTH115 (as above)
    except (FileNotFoundError, ProcessLookupError):
        pass
    except OSError:
        return None
    inodes = frozenset(int(link[8:-1]) for link in links if link.startswith("socket:["))
    return _OpenFiles(inodes, "anon_inode:inotify" in links)


_DATABASE_PORTS = frozenset({5432, 5433, 6432, 3306, 3307, 33060, 1433, 1521, 27017, 26257, 9042})
"""Ports of PostgreSQL and PgBouncer, MySQL and MariaDB, SQL Server, Oracle, MongoDB, CockroachDB, Cassandra."""

_DATABASE_SOCKET = re.compile(
    r"(\.s\.PGSQL\.\d+|mysqld?\.sock|mariadb\.sock|mongodb-\d+\.sock|mariadb[^/]*/socket)$"
)

# Source: linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h, linux/unix_diag.h, linux/tcp_states.h
_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY = 4, 20
_TCPDIAG_GETSOCK = 18
"""Older question about TCP sockets, the only one that answers for IPv4 and IPv6 at once."""
_REQUEST_DUMP, _DONE, _ERROR = 0x301, 3, 2
_ESTABLISHED, _CLOSE_WAIT, _LISTEN = 1, 8, 10
_SHOW_NAME, _SHOW_PEER, _SHOW_QUEUE = 1, 4, 16
_ATTRIBUTE_NAME, _ATTRIBUTE_PEER, _ATTRIBUTE_QUEUE = 0, 2, 4
_HEADER, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=HH")
_UNIX_STATE, _UNIX_MESSAGE = 2, 16
"""Offset of a unix socket's state, and bytes before its attributes."""
_TCP_OWN_PORT, _TCP_PORT, _TCP_INODE = 4, 6, 68
"""Offsets of both ports and of the inode in the kernel's answer about a TCP socket."""


def database_connections(pids: Iterable[int]) -> int | None:
    """Return the number of established connections to database servers that the processes ``pids`` hold.

    None if the kernel does not report connections, or this process may not read the files of a process.
    """
    held = set[int]()
    for pid in pids:
        files = open_files(pid)
        if files is None:
            return None
        held |= files.sockets
    if not held:
        return 0
    try:
        return len(held & database_sockets())
    except OSError:
        return None


def database_sockets() -> set[int]:
    """Return the inodes of all sockets connected to database servers; raise OSError if the kernel reports none.

    Over TCP these are connections to the usual ports of database servers, over unix sockets connections to sockets
    with their usual names.
    """
    return _tcp() | _unix()


def _tcp() -> set[int]:
    """Return the inodes of established connections to ports of databases. Source: sock_diag(7)."""
    found = set[int]()
    for message in _tcp_sockets(_ESTABLISHED):
        (port,) = struct.unpack_from("!H", message, _TCP_PORT)
        if port in _DATABASE_PORTS:
            found.add(struct.unpack_from("=I", message, _TCP_INODE)[0])
    return found


def _unix() -> set[int]:
    """Return the inodes of clients of databases' unix sockets. Source: sock_diag(7).

    Only the server's end has the socket's name, so the request asks for peers.
    """
    messages = _unix_sockets(1 << _ESTABLISHED, _SHOW_NAME | _SHOW_PEER)
    ends = (_end(message[_UNIX_MESSAGE:]) for message in messages)
    return {peer for name, peer, _ in ends if peer and _DATABASE_SOCKET.search(name)}


def abandoned(ports: Collection[int], paths: Collection[str]) -> int:
    """Return the number of connections that servers still hold though their clients are gone.

    The servers listen on TCP ``ports`` and on unix sockets at ``paths``; no client may be connecting meanwhile.
    Returns 0 if the kernel does not report sockets.

    Source: sock_diag(7); RFC 9293, 3.3.2, CLOSE-WAIT; linux/unix_diag.h: the peer of a socket has no inode once it
    is closed, and the queue of a listening socket holds the connections that no process has accepted.
    """
    with suppress(OSError):
        held = _tcp_sockets(_CLOSE_WAIT) if ports else ()
        over_tcp = sum(struct.unpack_from("!H", message, _TCP_OWN_PORT)[0] in ports for message in held)
        shown = _SHOW_NAME | _SHOW_PEER | _SHOW_QUEUE
        ends = _unix_sockets(1 << _ESTABLISHED | 1 << _LISTEN, shown) if paths else ()
        return over_tcp + sum(_pending_in(message, paths) for message in ends)
    return 0


def clients(port: int) -> frozenset[int]:
    """Return the ports of the sockets here that are connected to TCP ``port``; none if the kernel reports none.

    Source: sock_diag(7).
    """
    with suppress(OSError):
        ports = (struct.unpack_from("!HH", message, _TCP_OWN_PORT) for message in _tcp_sockets(_ESTABLISHED))
        return frozenset(own for own, other in ports if other == port)
    return frozenset()


def _unix_sockets(states: int, shown: int) -> Iterator[bytes]:
    """Yield the kernel's answers for the unix sockets in ``states``, with what is to be ``shown`` of each."""
    return _dump(_SOCK_DIAG_BY_FAMILY, struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, states, 0, shown, 0, 0))


def _pending_in(message: bytes, paths: Collection[str]) -> int:
    name, peer, queue = _end(message[_UNIX_MESSAGE:])
    if name not in paths:
        return 0
    return queue if message[_UNIX_STATE] == _LISTEN else int(not peer)


def _tcp_sockets(state: int) -> Iterator[bytes]:
    """Yield the kernel's answers for all TCP sockets in ``state``."""
    return _dump(_TCPDIAG_GETSOCK, struct.pack("=4B48xII", socket.AF_UNSPEC, 0, 0, 0, 1 << state, 0))


def _dump(kind: int, request: bytes) -> Iterator[bytes]:
    """Yield the kernel's answer for every socket that ``request`` asks for; raise OSError if it gives none."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)
        head = _HEADER.pack(_HEADER.size + len(request), kind, _REQUEST_DUMP, 1, 0)
        kernel.send(head + request)
        while True:
            data, at = kernel.recv(1 << 18), 0
            while at + _HEADER.size <= len(data):
                length, kind, *_ = _HEADER.unpack_from(data, at)
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    raise OSError("the kernel does not tell")
                yield data[at + _HEADER.size : at + length]
                at += length + -length % 4


def _end(attributes: bytes) -> tuple[str, int, int]:
    """Return a unix socket's name, its peer's inode, and the length of its queue."""
    name, peer, queue, at = "", 0, 0, 0
    while at + _ATTRIBUTE.size <= len(attributes):
        length, kind = _ATTRIBUTE.unpack_from(attributes, at)
        value = attributes[at + _ATTRIBUTE.size : at + length]
        if kind == _ATTRIBUTE_NAME:
            name = value.rstrip(b"\0").decode("utf-8", "replace")
        elif kind == _ATTRIBUTE_PEER:
            (peer,) = struct.unpack("=I", value)
        elif kind == _ATTRIBUTE_QUEUE:
            queue = struct.unpack_from("=I", value)[0]
        at += max(length + -length % 4, _ATTRIBUTE.size)
    return name, peer, queue
