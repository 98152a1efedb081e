"""What a catalogue entry must say: what it can do, what it needs, and how to start it on a given site.

A *server* is a process of its own and returns a ``Recipe``. A *guest* (mod_wsgi, mod_python) lives inside a
server and returns a ``Fragment`` of that server's configuration. Neither starts anything: ``deploy`` does.
"""

from __future__ import annotations

import inspect
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from ..model.stack import Interface, Protocol, ServerSpec, SettingValue, Socket
from .templates import render

__all__ = [
    "BACKLOG",
    "KEEP_ALIVE_S",
    "Endpoint",
    "Entry",
    "Fragment",
    "Guest",
    "Hosted",
    "Needs",
    "Recipe",
    "Server",
    "Site",
]

BACKLOG = 2048
"""Length of every server's queue of unaccepted connections, as far as the server lets one say; their own
defaults (5, 100, 511…) would decide runs at high concurrency. Linux cuts it to ``net.core.somaxconn``."""

KEEP_ALIVE_S = 75
"""Seconds an idle kept connection lives in every server; nginx lets go of upstream ones after 60."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a server listens: ``path`` for a unix socket, ``host`` and ``port`` for TCP."""

    protocol: Protocol
    socket: Socket
    path: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0

    @property
    def is_unix(self) -> bool:
        """Whether this is a unix socket."""
        return self.socket is Socket.UNIX

    @property
    def address(self) -> str:
        """``host:port``, or the path of the unix socket."""
        return str(self.path) if self.is_unix else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """The app as its host sees it.

    ``module`` (importable from ``entry.parent``) holds the callable ``application`` for ``interface``;
    ``root`` is the user's project, the working directory. ``python`` and ``home`` are the interpreter and
    folder of the environment with the server's packages layered over the user's; ``python_path`` must lead
    the import path. ``site_packages`` is for servers that embed Python and know no home directive. ``static``
    maps URL prefixes (``/static/``) to folders that a front end serves itself.
    """

    interface: Interface
    module: str
    entry: Path
    root: Path
    python: Path
    home: Path
    python_path: tuple[Path, ...]
    site_packages: tuple[Path, ...]
    static: Mapping[str, Path] = field(default_factory=dict)

    @property
    def import_path(self) -> tuple[Path, ...]:
        """Where ``module`` and the user's own modules are found: first the folder of ``entry``."""
        return tuple(dict.fromkeys((self.entry.parent, *self.python_path)))

    @property
    def import_environment(self) -> dict[str, str]:
        """The import path as a process environment, for servers that are Python programs themselves."""
        return {"PYTHONPATH": ":".join(map(str, self.import_path))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A guest's part of its server's configuration.

    ``modules`` maps module names to their shared objects; ``files`` join the server's own ``Recipe.files``.
    """

    modules: Mapping[str, Path]
    directives: str
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place to start one server: its private directory, where it listens, and what comes behind it.

    ``directory`` exists, is empty and writable; config, sockets, pids, logs and temporary files belong there.
    Its path is short, since sockets have 107 bytes, and without ``=``, where Apache would see a parameter.
    ``upstream`` are the endpoints of the next hop, one per instance; empty for the last hop. ``inside`` is
    the guest's fragment. ``settings`` holds every setting of the spec. ``cores`` is the stack's budget.
    """

    directory: Path
    listen: Endpoint
    settings: Mapping[str, SettingValue]
    app: Hosted
    upstream: tuple[Endpoint, ...] = ()
    inside: Fragment | None = None
    cores: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to start one server.

    ``files`` are written below the site's directory first. ``check`` is the server's own configuration
    checker, run before the start. ``stop`` is the signal that ends it cleanly. ``environment`` adds to the
    app's own; its PYTHONPATH goes before one the app has.
    The command must stay in the foreground.
    """

    command: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    check: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    stop: signal.Signals = signal.SIGTERM
    stop_timeout_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What must be on the machine.

    ``binary`` is looked up on PATH and in the sbin folders; ``files`` must exist; ``apt`` are the Debian
    packages that bring both. ``version`` are arguments that make ``binary`` print its version. ``embeds`` is
    the minor version of the Python that is linked into a Debian module, so the only one it can host.
    """

    apt: tuple[str, ...] = ()
    binary: str = ""
    files: tuple[Path, ...] = ()
    version: tuple[str, ...] = ()
    embeds: tuple[int, int] | None = None


class Entry(ABC):
    """What all catalogue entries share."""

    spec: ClassVar[ServerSpec]
    needs: ClassVar[Needs] = Needs()

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return the PyPI requirements these settings need, to be layered over the app's environment."""
        return ()

    def render(self, template: str, site: Site, **values: object) -> str:
        """Render this entry's own ``template`` with the site's parts as variables."""
        constants = {"backlog": BACKLOG, "keep_alive_s": KEEP_ALIVE_S}
        own = {**site.settings, **constants, **values}
        return render(self.folders, template, site=site, app=site.app, **own)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where templates are looked for: beside this entry's class, then beside the entries it derives from."""
        classes = (kind for kind in type(self).__mro__ if issubclass(kind, Entry) and kind.__module__ != __name__)
        return tuple(dict.fromkeys(Path(inspect.getfile(kind)).parent for kind in classes))


class Server(Entry):
    """A process of its own."""

    @abstractmethod
    def recipe(self, site: Site) -> Recipe:
        """Say how to start this server on ``site``; pure, starts and writes nothing."""


class Guest(Entry):
    """Lives inside a server and speaks that server's configuration language."""

    @abstractmethod
    def fragment(self, site: Site) -> Fragment:
        """Return this guest's part of its server's configuration; pure."""
