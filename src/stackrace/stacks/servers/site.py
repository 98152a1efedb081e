"""A place to start one server: the app that it hosts, the address it listens on, and the proxies it trusts."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from ...base.text import package_key
from ..native_files import Change, Concern, GivenOption, NativeFile
from ..setting import Interface, Protocol, Settings, Socket

ANYBODY = "*"
"""Trusted proxies in a race, for servers that need a list: over unix sockets a client has no address at all."""

OTHERS = ("X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Ssl", "Forwarded")
"""Proxy headers that apps may trust, besides X-Forwarded-For and X-Forwarded-Proto, which every front end knows."""


GRACEFUL_S = 30
"""Seconds that requests have to end when a server is stopped; Gunicorn's own default, and Kubernetes'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Production:
    """One server's place in production; whatever starts the server, such as systemd, creates the folders."""

    run: Path
    """Folder for pids and sockets, as ``/run/shop/nginx``; emptied when the machine starts."""
    logs: Path
    """Folder for logs, as ``/var/log/shop/nginx``."""
    temporary: Path
    """Folder for temporary files, as ``/var/cache/shop/nginx``."""
    proxies: tuple[str, ...] = ()
    """Addresses of the proxies whose X-Forwarded headers are trusted; see ``trusted_proxies``."""
    is_behind: bool = False
    """True if another server of the stack stands in front; nobody else can reach this one."""
    graceful_s: ClassVar[int] = GRACEFUL_S
    most_body_bytes: ClassVar[int] = 16 * 2**20
    """Largest request body. nginx's own limit of 1 MiB refuses a photograph."""
    answer_s: ClassVar[int] = 60
    """Seconds after which a front end times out an answer; nginx's and Apache's own default."""

    @property
    def trusted_proxies(self) -> str:
        """Proxies whose X-Forwarded headers are trusted, comma-separated addresses; ``*`` behind another server.

        The server in front trusts only ``proxies``. Over a unix socket between the two, a client has no address.
        """
        return "*" if self.is_behind else ",".join(self.proxies)


def versions_by_key(versions: Mapping[str, str]) -> dict[str, str]:
    """Return versions by normalised package name: Foo_Bar becomes foo-bar."""
    return {package_key(name): version for name, version in versions.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRuntime:
    """Runtime of a WSGI or ASGI app."""

    module: str
    """Module with the callable ``application``; importable from ``entry.parent``."""
    entry: Path
    """File of ``module``."""
    python: Path
    """Interpreter of ``home``."""
    home: Path
    """Virtual environment with the server's packages layered over the user's."""
    python_path: tuple[Path, ...]
    """Folders that must lead the import path."""
    site_packages: tuple[Path, ...]
    """The environment's package folders, for servers that embed Python and know no home directive."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions in the app's own environment, by package; a server among them races in that version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubyRuntime:
    """Runtime of a Rack app."""

    ruby: Path
    """The interpreter."""
    config: Path
    """The rackup file."""
    mode: str = "production"
    """The app's environment in Rack's sense, as in RACK_ENV."""
    public: Path | None = None
    """Folder of files that a web server sends without asking the app; None if there is none."""
    gems: Mapping[str, str] = field(default_factory=dict)
    """Versions of the gems in the Gemfile.lock, by name; empty without such a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """The app as its host sees it.

    The grammar of stacks gives a server only apps of the interfaces it hosts, so the servers of one interface
    use the parts of its runtime from here; a part that this app's runtime lacks raises TypeError.
    All folders are ``PLAIN``: a user's folder with another name is reached by a link.
    """

    interface: Interface
    root: Path
    """The user's project and the working directory; for plain files the folder served at ``/``."""
    runtime: PythonRuntime | RubyRuntime | None = None
    """Runtime: Python for WSGI and ASGI, Ruby for Rack, None for plain files, which need nothing."""
    static: Mapping[str, Path] = field(default_factory=dict)
    """URL prefixes (``/static/``), longest first, and the folders that a front end serves there itself.
    """

    @property
    def _python(self) -> PythonRuntime:
        if not isinstance(self.runtime, PythonRuntime):
            raise TypeError(f"no Python runs an app hosted as {self.interface}")
        return self.runtime

    @property
    def rack(self) -> RubyRuntime:
        """Runtime of a Rack app."""
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

    def has_before(self, package: str, *version: int) -> bool:
        """Return True if the app's own environment has ``package`` in a version before ``version``, given as in
        ``0, 22``."""
        brought = re.findall(r"\d+", versions_by_key(self._python.versions).get(package, ""))
        return bool(brought) and tuple(map(int, brought)) < version

    @property
    def import_path(self) -> tuple[Path, ...]:
        """Folders to import ``module`` and the user's own modules from; the folder of ``entry`` is first."""
        return tuple(dict.fromkeys((self.entry.parent, *self._python.python_path)))

    @property
    def import_environment(self) -> dict[str, str]:
        """The import path as a process environment, for servers that are Python programs themselves."""
        return {"PYTHONPATH": ":".join(map(str, self.import_path))}


BODILESS = "stackrace_bodiless"
"""Name of the module that drops bodies of answers to HEAD; it has ``application``, as the entry module does."""

_SCRIPT = Path(__file__).with_name("bodiless.py")


def bodiless_files(app: Hosted) -> dict[str, str]:
    """Return the file of the module ``BODILESS``, by its name in the site's directory, where the server imports it
    from."""
    source = _SCRIPT.read_text(encoding="utf-8")
    binding = (
        f"\n\nfrom {app.module} import application as hosted\n\n"
        f"application = {app.interface}_without_body(hosted)\n"
    )
    return {f"{BODILESS}.py": source + binding}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Address that a server listens on."""

    protocol: Protocol
    socket: Socket
    path: Path | None = None
    """Unix socket; None for TCP."""
    host: str = "127.0.0.1"
    """Address for TCP."""
    port: int = 0

    @property
    def is_unix(self) -> bool:
        """True for a unix socket."""
        return self.socket is Socket.UNIX

    @property
    def address(self) -> str:
        """``host:port``, or the path of the unix socket."""
        return str(self.path) if self.is_unix else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A guest's part of its server's configuration."""

    modules: Mapping[str, Path] = field(default_factory=dict)
    """Server modules to load, by name, and their shared objects."""
    directives: str = ""
    """Text for the server's configuration."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts by path below the site's directory, added to the server's own ``Recipe.files``."""
    unloadable: tuple[str, ...] = ()
    """Same as ``Recipe.unloadable``."""
    rare_crashes: tuple[signal.Signals, ...] = ()
    """Same as ``Recipe.rare_crashes``."""
    touched: Path | None = None
    """Same as ``Reload.touches``, for an app that the server's own reload would cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place to start one server."""

    directory: Path
    """Private, empty, writable folder for config, sockets, pids, logs and temporary files. Its path is ``PLAIN``
    and short, because a socket's path has at most 107 bytes.
    """
    listen: Endpoint
    """Address that the server must listen on."""
    settings: Settings
    """Values of all settings of the spec."""
    app: Hosted
    upstream: tuple[Endpoint, ...] = ()
    """Endpoints of the next hop, one per instance; empty for the last hop."""
    inside: Fragment | None = None
    """Fragment of the guest inside the server, if there is one."""
    cores: int = 1
    """Number of cores that the whole stack may use."""
    chosen: frozenset[str] = frozenset()
    """Names of the settings in the stack's path; they override those of ``file``."""
    options: tuple[GivenOption, ...] = ()
    """Options of the path in the server's own language, to be passed on unchanged."""
    file: NativeFile | None = None
    """The user's configuration file, used unchanged except for what Stackrace decides."""
    production: Production | None = None
    """Place in production; None for a race, which only looks for speed."""

    @property
    def forwards(self) -> Protocol | None:
        """Protocol of the next hop; None for the last hop."""
        return self.upstream[0].protocol if self.upstream else None

    @property
    def runtime(self) -> Path:
        """Folder for pids and sockets that the server creates."""
        return self.directory if self.production is None else self.production.run

    @property
    def run(self) -> Path:
        """Same as ``runtime``, for servers that need a folder with nothing else in it."""
        return self.directory / "run" if self.production is None else self.production.run

    @property
    def logs(self) -> Path:
        """Folder for logs."""
        return self.directory / "logs" if self.production is None else self.production.logs

    @property
    def temporary(self) -> Path:
        """Folder for bodies that are too large for memory."""
        return self.directory / "tmp" if self.production is None else self.production.temporary

    @property
    def empty(self) -> Path:
        """Folder without files, for servers that require a document root."""
        return self.directory / "htdocs" if self.production is None else self.production.temporary / "htdocs"

    @property
    def trusted_proxies(self) -> str:
        """Proxies whose X-Forwarded headers are trusted, comma-separated addresses; see ``ANYBODY``."""
        return ANYBODY if self.production is None else self.production.trusted_proxies

    @property
    def kept_concerns(self) -> frozenset[Concern]:
        """Concerns that a race decides, but that stay as in the user's configuration in production: the app's
        variables, umask.

        The app's folders are those of the deployment.
        """
        return frozenset() if self.production is None else frozenset({Concern.VARIABLES, Concern.UMASK})

    @property
    def decided_changes(self) -> tuple[Change, ...]:
        """Changes to the user's configuration file, without those of ``kept_concerns``."""
        changes = self.file.reading.changes if self.file is not None else ()
        return tuple(change for change in changes if change.concern not in self.kept_concerns)

    def stop(self, gently: signal.Signals, at_once: signal.Signals = signal.SIGTERM) -> signal.Signals:
        """Return the signal that stops the server: ``gently`` in production, so that clients can finish."""
        return at_once if self.production is None else gently

    def patience_s(self, raced: int) -> int:
        """Return the seconds that a stop may wait for requests: ``raced`` in a race, which has no requests left
        then."""
        return raced if self.production is None else self.production.graceful_s
