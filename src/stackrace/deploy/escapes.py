"""Effects of an app outside all protection: files it writes, imported originals, and servers it connects to."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..app.examination import Examination
from ..base.files import real_path
from ..base.process.view import ProtectedView, Relocation
from ..base.text import few
from .environments import cache_folder
from .sockets import listeners

_KINDS = {
    "3306": "mysql",
    "5432": "postgresql",
    "5672": "rabbitmq",
    "6379": "redis",
    "9200": "elasticsearch",
    "11211": "memcached",
    "27017": "mongodb",
}

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}


@dataclass(frozen=True, slots=True)
class Escapes:
    """Effects that examinations saw."""

    _written: dict[Path, None] = field(default_factory=dict)
    _imported: dict[Path, None] = field(default_factory=dict)
    _connected: dict[str, None] = field(default_factory=dict)

    def note(self, examination: Examination) -> None:
        """Add the effects that ``examination`` saw."""
        self._written.update(dict.fromkeys(examination.written))
        self._imported.update(dict.fromkeys(examination.imported))
        self._connected.update(dict.fromkeys(map(_as_loopback, examination.connected)))

    def notes(
        self,
        settled: Sequence[Path],
        view: ProtectedView,
        named: Iterable[str] = (),
        service_urls: Iterable[str] = (),
    ) -> Iterator[str]:
        """Yield sentences on files written outside of ``settled``, on imported originals, and on servers.

        The app cannot write to files that ``view`` makes read-only, but may need to. ``named`` are kinds of servers
        that the user already knows of, ``service_urls`` the values of variables that lead to the race's services.
        """
        written = [path for path in self._written if not _is_below(path, (*settled, cache_folder()))]
        if held := [path for path in written if view.is_read_only(path)]:
            yield (
                f"The app cannot write to {few(held)}: a race cannot have its own view of the files here, and all "
                "stays as it is. Lead it to another path by a variable, [app] env, if it needs that."
            )
        if written := [path for path in written if path not in held]:
            yield _written_words(written, view.relocation)
        if imported := [
            path for path in self._imported if view.relocation.has_copy(path) and not view.is_read_only(path)
        ]:
            yield (
                f"{few(imported)} was imported, and not its copy: an editable install knows it by another name "
                "than its folder's, so that no path leads to the copy. What it writes beside itself may change."
            )
        listening = listeners()
        servers = [
            each
            for each in self._connected
            if _database_kind(each) not in named
            and not _is_of_race(each, settled, service_urls)
            and not _is_silent(each, listening)
        ]
        if servers:
            words = [f"{each} ({_database_kind(each)})" if _database_kind(each) else each for each in servers]
            yield (
                f"The app talks to {few(words)}: what it writes there is not copied, and changes in a race. "
                '[app] services = ["redis"], for example, starts a private one, whose address the app must read '
                "from a variable; [app] env leads it to one of yours."
            )


def _as_loopback(address: str) -> str:
    """Return ``address`` with the loopback address in place of the one for all interfaces, which leads there."""
    host, _, port = address.rpartition(":")
    return f"{_LOOPBACK[host]}:{port}" if host in _LOOPBACK else address


def _database_kind(address: str) -> str:
    if address.startswith("/"):
        return "postgresql" if "PGSQL" in address else "mysql" if "mysql" in address else ""
    return _KINDS.get(address.rpartition(":")[2], "")


def _is_of_race(address: str, settled: Iterable[Path], service_urls: Iterable[str]) -> bool:
    """Tell whether ``address`` is a service of the race: a socket in ``settled``, or a port in ``service_urls``."""
    if address.startswith("/"):
        return _is_below(Path(address), settled)
    port = address.rpartition(":")[2]
    return any(re.search(rf"\b{port}\b", value) for value in service_urls)


def _is_silent(address: str, listening: Collection[int]) -> bool:
    """Return True for an address of this machine where nobody listens: the app only tried it."""
    return address.startswith(("127.", "[::1]")) and int(address.rpartition(":")[2]) not in listening


def _written_words(written: Sequence[Path], relocation: Relocation) -> str:
    note = f"The app writes to {few(written)}, which is not copied, and changes in a race"
    if relocation.root:
        return f"{note}: its code knows this path from elsewhere. Lead it to another by a variable, [app] env."
    folders = {path if _is_shared(path.parent) else path.parent for path in written}
    outermost = sorted(str(folder) for folder in folders if folders.isdisjoint(folder.parents))
    return f"{note}. To have it copied, write [app] protect = {json.dumps(outermost, ensure_ascii=False)}."


def _is_shared(folder: Path) -> bool:
    """Tell whether many programs share ``folder``, such as /tmp: a note then names the file, not the folder."""
    if folder in (Path.home(), Path("/")):
        return True
    with suppress(OSError):
        return bool(folder.stat().st_mode & stat.S_ISVTX)
    return False


def _is_below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) or path.is_relative_to(real_path(folder)) for folder in folders)
