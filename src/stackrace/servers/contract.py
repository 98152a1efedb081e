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
    "PythonRuntime",
    "Recipe",
    "RubyRuntime",
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
class PythonRuntime:
    """How a WSGI or ASGI app is run.

    ``module`` (importable from ``entry.parent``) holds the callable ``application``. ``python`` and ``home``
    are the interpreter and folder of the environment with the server's packages layered over the user's;
    ``python_path`` must lead the import path. ``site_packages`` is for servers that embed Python and know no
    home directive.
    """

    module: str
    entry: Path
    python: Path
    home: Path
    python_path: tuple[Path, ...]
    site_packages: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RubyRuntime:
    """How a Rack app is run: by the interpreter ``ruby``, from the rackup file ``config``.

    ``mode`` is its environment in Rack's sense, as in RACK_ENV. ``public`` is the folder of files that a web server
    sends without asking the app, None where there is none. ``gems`` are those of its Gemfile.lock, if it has one.
    """

    ruby: Path
    config: Path
    mode: str = "production"
    public: Path | None = None
    gems: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """The app as its host sees it.

    ``root`` is the user's project and the working directory; for plain files it is the folder served at ``/``.
    ``runtime`` is what runs the app: Python for WSGI and ASGI, Ruby for Rack, None for plain files, which need
    nothing. ``static`` maps URL prefixes (``/static/``) to folders that a front end serves itself.

    The grammar of stacks gives a server only apps of the interfaces it hosts, so the servers of one interface
    take the parts of its runtime from here; a part that this app's runtime does not have raises TypeError.
    """

    interface: Interface
    root: Path
    runtime: PythonRuntime | RubyRuntime | None = None
    static: Mapping[str, Path] = field(default_factory=dict)

    @property
    def _python(self) -> PythonRuntime:
        if not isinstance(self.runtime, PythonRuntime):
            raise TypeError(f"no Python runs an app hosted as {self.interface}")
        return self.runtime

    @property
    def _ruby(self) -> RubyRuntime:
        if not isinstance(self.runtime, RubyRuntime):
            raise TypeError(f"no Ruby runs an app hosted as {self.interface}")
        return self.runtime

    @property
    def module(self) -> str:
        """The module with the callable ``application``."""
        return self._python.module

    @property
    def entry(self) -> Path:
        """The file of ``module``."""
        return self._python.entry

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self._python.python

    @property
    def home(self) -> Path:
        """The interpreter's environment."""
        return self._python.home

    @property
    def site_packages(self) -> tuple[Path, ...]:
        """The folders of packages, the server's own first."""
        return self._python.site_packages

    @property
    def import_path(self) -> tuple[Path, ...]:
        """Where ``module`` and the user's own modules are found: first the folder of ``entry``."""
        return tuple(dict.fromkeys((self.entry.parent, *self._python.python_path)))

    @property
    def import_environment(self) -> dict[str, str]:
        """The import path as a process environment, for servers that are Python programs themselves."""
        return {"PYTHONPATH": ":".join(map(str, self.import_path))}

    @property
    def ruby(self) -> Path:
        """The interpreter of a Rack app."""
        return self._ruby.ruby

    @property
    def config(self) -> Path:
        """The rackup file of a Rack app."""
        return self._ruby.config

    @property
    def mode(self) -> str:
        """What RACK_ENV is for a Rack app."""
        return self._ruby.mode

    @property
    def public(self) -> Path | None:
        """The public folder of a Rack app, if it has one."""
        return self._ruby.public

    @property
    def gems(self) -> frozenset[str]:
        """The gems that a Rack app brings itself."""
        return self._ruby.gems


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
    Whoever still lives after ``stop_timeout_s`` is killed and reported: most end within one second, and on a
    machine that gave this one half of its time daphne took more than five.
    The command must stay in the foreground.
    """

    command: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    check: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    stop: signal.Signals = signal.SIGTERM
    stop_timeout_s: float = 15.0
    arguments_variable: str = ""
    """The environment variable from which it reads further arguments, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What must be on the machine.

    ``binary`` is looked up on PATH and in the sbin folders; ``files`` must exist; ``apt`` are the Debian
    packages that bring both. ``version`` are arguments that make ``binary`` print its version. ``embeds`` is
    the minor version of the Python that is linked into a Debian module, so the only one it can host; ``before``
    the first one that a server no longer copes with. ``elsewhere`` is for what Debian has no package of: one
    sentence that tells where a user gets it.
    """

    apt: tuple[str, ...] = ()
    binary: str = ""
    folders: tuple[Path, ...] = ()
    """Where ``binary`` may lie besides."""
    files: tuple[Path, ...] = ()
    version: tuple[str, ...] = ()
    embeds: tuple[int, int] | None = None
    before: tuple[int, int] | None = None
    elsewhere: str = ""


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
