"""Find the files that an app changes and the servers it connects to, by audit events and by /proc of its processes.

Source: audit events table of Python's library reference; proc_pid_fd(5), proc_pid_fdinfo(5), proc_pid_maps(5),
proc_pid_net(5).
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qs, unquote

_MOST = 50
_MOST_IN_A_FOLDER = 10
"""Most files of one folder, so that a cache of many files hides no other."""
_MOST_ADDRESSES = 20
_ESTABLISHED = "01"


class Watch:
    """Records, until the process ends, files that are changed and connections that are made."""

    def __init__(self) -> None:
        self._opened: dict[str, None] = {}
        self._removed: dict[str, None] = {}
        self._new: set[str] = set()
        self._temporary: set[str] = set()
        self._addresses: dict[str, None] = {}
        sys.addaudithook(self._on_event)

    def files(self) -> list[str]:
        """Return the changed files with links resolved, without temporary files that the app created."""
        held = (path for pid in _processes() for path in (*_files_open_for_writing(pid), *_mapped(pid)))
        paths = dict.fromkeys(os.path.realpath(path) for path in (*self._opened, *held))
        written = (path for path in paths if path not in self._temporary and _is_file(path))
        return _few_of_each_folder(dict.fromkeys([*self._removed, *written]))

    def addresses(self) -> list[str]:
        """Return the addresses it connected to: ``127.0.0.1:5432``, ``[::1]:6379`` or the path of a unix socket."""
        own = {inode for pid in _processes() for inode in _sockets(pid)}
        return list(dict.fromkeys((*self._addresses, *_connected(own))))[:_MOST_ADDRESSES]

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        try:
            if event == "open":
                self._on_open(*arguments)
            elif event == "sqlite3.connect":
                if path := _database(os.fsdecode(arguments[0])):
                    self._write(_absolute(path))
            elif event == "os.rename":
                self._remove(_absolute(arguments[0]))
                self._write(_absolute(arguments[1]))
            elif event == "os.remove":
                self._remove(_absolute(arguments[0]))
            elif event == "os.truncate":
                self._write(_absolute(arguments[0]))
            elif event == "socket.connect":
                self._on_connection(*arguments)
        except Exception:
            # the app's call must go on, whatever its arguments are
            return

    def _on_open(self, path: Any, mode: Any, flags: int) -> None:
        if isinstance(path, int) or flags & os.O_ACCMODE == os.O_RDONLY:
            return
        absolute = _absolute(path)
        if flags & os.O_EXCL:
            self._temporary.add(os.path.realpath(absolute))
        else:
            self._write(absolute)

    def _on_connection(self, connection: socket.socket, address: Any) -> None:
        if connection.type == socket.SOCK_STREAM and (place := _address_of(address)):
            self._addresses[place] = None

    def _write(self, path: str) -> None:
        if path.endswith(".pyc"):
            return
        if not os.path.lexists(path):
            self._new.add(os.path.realpath(path))
        self._opened[path] = None

    def _remove(self, path: str) -> None:
        real = os.path.realpath(path)
        if os.path.lexists(path) and real not in self._new and real not in self._temporary:
            self._removed[real] = None


def _absolute(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path))  # noqa: PTH100 (a Path is slow)


def _few_of_each_folder(paths: Iterable[str]) -> list[str]:
    folders: Counter[str] = Counter()
    few = []
    for path in paths:
        folder = os.path.dirname(path)  # noqa: PTH120
        folders[folder] += 1
        if folders[folder] <= _MOST_IN_A_FOLDER:
            few.append(path)
    return few[:_MOST]


def _database(name: str) -> str:
    """Return the file of a SQLite name; empty for a database in memory or opened read-only."""
    if not name.startswith("file:"):
        return "" if name == ":memory:" else name
    path, _, query = name[len("file:") :].partition("?")
    mode = parse_qs(query).get("mode", [""])[0]
    return "" if mode in ("ro", "memory") or path == ":memory:" else unquote(path)


def _processes() -> list[int]:
    """Return the ids of this process and all that the app started, except daemons: the processes of the session."""
    own, pids = os.getsid(0), [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    return [pid for pid in pids if _session_of(pid) == own]


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _files_open_for_writing(pid: int) -> Iterator[str]:
    for number in _descriptors(pid):
        try:
            with open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as info:  # noqa: PTH123
                flags = next(int(each.split()[1], 8) for each in info if each.startswith("flags:"))
            if flags & os.O_ACCMODE != os.O_RDONLY:
                yield os.readlink(f"/proc/{pid}/fd/{number}")  # noqa: PTH115
        except (OSError, StopIteration):
            continue


def _descriptors(pid: int) -> list[str]:
    """Return the file descriptors of a process; empty if it has ended or belongs to another user."""
    try:
        return os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
    except OSError:
        return []


def _mapped(pid: int) -> Iterator[str]:
    """Yield the files that a process maps as shared and writable, as some databases do."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123
            lines = [line.rstrip("\n").split(maxsplit=5) for line in maps]
    except OSError:
        return
    for words in lines:
        if len(words) == 6 and words[1][1] == "w" and words[1][3] == "s":
            yield words[5]


def _is_file(path: str) -> bool:
    if path.startswith(("/dev/", "/proc/", "/sys/")):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except (OSError, ValueError):
        return False


def _address_of(address: Any) -> str:
    if isinstance(address, tuple):
        return _host_and_port(str(address[0]), int(address[1]))
    path = os.fsdecode(address)
    return path if path.startswith("/") else ""


def _host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _sockets(pid: int) -> Iterator[str]:
    for number in _descriptors(pid):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{number}")  # noqa: PTH115
        except OSError:
            continue
        if target.startswith("socket:["):
            yield target[len("socket:[") : -1]


def _connected(inodes: set[str]) -> Iterator[str]:
    for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        try:
            with open(f"/proc/self/net/{name}", encoding="ascii") as table:  # noqa: PTH123
                rows = [line.split() for line in table][1:]
        except OSError:
            continue
        for row in rows:
            if row[3] == _ESTABLISHED and row[9] in inodes:
                host, _, port = row[2].partition(":")
                yield _host_and_port(_unpacked(host, family), int(port, 16))


def _unpacked(text: str, family: int) -> str:
    """Return the address in hexadecimal words of 32 bits, each in the machine's byte order."""
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    host = socket.inet_ntop(family, struct.pack(f"={len(words)}I", *words))
    return host[len("::ffff:") :] if host.startswith("::ffff:") else host
