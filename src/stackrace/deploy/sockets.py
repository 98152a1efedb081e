"""Who listens on which port, as the kernel tells it. IPv4 and IPv6 of our network namespace."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from os import listdir, readlink
from pathlib import Path

__all__ = ["Descriptors", "Listeners", "descriptors", "listeners"]

Listeners = Mapping[int, frozenset[int]]
"""The inodes of listening sockets by port."""

_LISTEN = "0A"
_NEW = "03"
"""Connections that are not yet accepted; older kernels list them among the listeners."""


@dataclass(frozen=True, slots=True)
class Descriptors:
    """What a process has open."""

    sockets: frozenset[int]
    """By inode."""
    watches_files: bool
    """Whether it has an inotify instance."""


def listeners() -> Listeners:
    """Return the inodes of all listening TCP sockets by port.

    The kernel lists them first: what follows, ten thousands of connections after a race, is not read.
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


def descriptors(pid: int) -> Descriptors | None:
    """Return what ``pid`` has open, None when we may not look; nothing for one that is gone.

    Source: proc_pid_fd(5).
    """
    sockets, watches = set(), False
    try:
        for name in listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 (names only, and many)
            try:
                link = readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115 (as above)
            except FileNotFoundError:
                continue
            if match := re.fullmatch(r"socket:\[(\d+)\]", link):
                sockets.add(int(match[1]))
            watches |= link == "anon_inode:inotify"
    except (FileNotFoundError, ProcessLookupError):
        pass
    except OSError:
        return None
    return Descriptors(frozenset(sockets), watches)
