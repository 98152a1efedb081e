"""One place to start one server: the app that it hosts, where it listens, and whom it believes."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from ..native_options import Concern, GivenOption, NativeFile
from ..stack import Interface, Protocol, Settings, Socket

ANYBODY = "*"
"""Whom servers that name the proxies they trust are to trust: over unix sockets a client has no address at all."""

OTHERS = ("X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Ssl", "Forwarded")
"""What apps may believe of a proxy beside X-Forwarded-For and X-Forwarded-Proto, which every front end knows."""


GRACEFUL_S = 30
"""Seconds that requests have to end when a server is stopped; Gunicorn's own default, and Kubernetes'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Production:
    """One server's place on a machine that serves people; its folders are made by who starts it, as systemd."""

    run: Path
    """For pids and sockets; emptied when the machine starts, as ``/run/shop/nginx``."""
    logs: Path
    """As ``/var/log/shop/nginx``."""
    temporary: Path
    """As ``/var/cache/shop/nginx``."""
    proxies: tuple[str, ...] = ()
    """The addresses of those who speak to it for others and are believed; see ``trusted_proxies``."""
    is_behind: bool = False
    """Whether another server of the stack stands in front, over a socket that nobody else can reach."""
    graceful_s: ClassVar[int] = GRACEFUL_S
    most_body_bytes: ClassVar[int] = 16 * 2**20
    """The largest request body. nginx's own limit of 1 MiB refuses a photograph."""
    answer_s: ClassVar[int] = 60
    """Seconds after which a front end gives an answer up; nginx's and Apache's own default."""

    @property
    def trusted_proxies(self) -> str:
        """Whom to believe X-Forwarded-*; behind another server ``*``: over unix sockets nobody has an address."""
        return "*" if self.is_behind else ",".join(self.proxies)


def versions_by_key(versions: Mapping[str, str]) -> dict[str, str]:
    """Return versions by normalised names of packages: what some call Foo_Bar is foo-bar."""
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in versions.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRuntime:
    """How a WSGI or ASGI app is run."""

    module: str
    """Holds the callable ``application``; importable from ``entry.parent``."""
    entry: Path
    """The file of ``module``."""
    python: Path
    """The interpreter of ``home``."""
    home: Path
    """The environment with the server's packages layered over the user's."""
    python_path: tuple[Path, ...]
    """Must lead the import path."""
    site_packages: tuple[Path, ...]
    """The environment's folders of packages, for servers that embed Python and know no home directive."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """What the app's own environment has, by name: a server among these is raced in that version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubyRuntime:
    """How a Rack app is run."""

    ruby: Path
    """The interpreter."""
    config: Path
    """The rackup file."""
    mode: str = "production"
    """The app's environment in Rack's sense, as in RACK_ENV."""
    public: Path | None = None
    """The folder of files that a web server sends without asking the app; None where there is none."""
    gems: Mapping[str, str] = field(default_factory=dict)
    """Versions of the gems of its Gemfile.lock, by name; none without such a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """The app as its host sees it.

    The grammar of stacks gives a server only apps of the interfaces it hosts, so the servers of one interface
    take the parts of its runtime from here; a part that this app's runtime does not have raises TypeError.
    All folders are ``PLAIN``: those of the user's that are called otherwise come as links.
    """

    interface: Interface
    root: Path
    """The user's project and the working directory; for plain files the folder served at ``/``."""
    runtime: PythonRuntime | RubyRuntime | None = None
    """What runs the app: Python for WSGI and ASGI, Ruby for Rack, None for plain files, which need nothing."""
    static: Mapping[str, Path] = field(default_factory=dict)
    """URL prefixes (``/static/``), made by ``model.url_prefix``, longest first, and the folders that a front end
    serves there itself."""

    @property
    def _python(self) -> PythonRuntime:
        if not isinstance(self.runtime, PythonRuntime):
            raise TypeError(f"no Python runs an app hosted as {self.interface}")
        return self.runtime

    @property
    def rack(self) -> RubyRuntime:
        """What runs a Rack app."""
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
        """Tell whether the app brings ``package`` itself in a version before ``version``, as in (0, 22)."""
        brought = re.findall(r"\d+", versions_by_key(self._python.versions).get(package, ""))
        return bool(brought) and tuple(map(int, brought)) < version

    @property
    def import_path(self) -> tuple[Path, ...]:
        """Where ``module`` and the user's own modules are found: first the folder of ``entry``."""
        return tuple(dict.fromkeys((self.entry.parent, *self._python.python_path)))

    @property
    def import_environment(self) -> dict[str, str]:
        """The import path as a process environment, for servers that are Python programs themselves."""
        return {"PYTHONPATH": ":".join(map(str, self.import_path))}


BODILESS = "stackrace_bodiless"
"""The module's name: it binds ``application`` as the entry module does."""

_SCRIPT = Path(__file__).with_name("bodiless.py")


def bodiless_files(app: Hosted) -> dict[str, str]:
    """Return the module's file, which belongs into the site's directory; the server finds it on its path."""
    source = _SCRIPT.read_text(encoding="utf-8")
    binding = (
        f"\n\nfrom {app.module} import application as hosted\n\n"
        f"application = {app.interface}_without_body(hosted)\n"
    )
    return {f"{BODILESS}.py": source + binding}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a server listens."""

    protocol: Protocol
    socket: Socket
    path: Path | None = None
    """The unix socket; None for TCP."""
    host: str = "127.0.0.1"
    """For TCP, as ``port``."""
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
class Fragment:
    """A guest's part of its server's configuration."""

    modules: Mapping[str, Path] = field(default_factory=dict)
    """The server's modules to load, by name, and their shared objects."""
    directives: str = ""
    """The text that goes into the server's configuration."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Text by path below the site's directory; they join the server's own ``Recipe.files``."""
    unloadable: tuple[str, ...] = ()
    """As ``Recipe.unloadable``."""
    rare_crashes: tuple[signal.Signals, ...] = ()
    """As ``Recipe.rare_crashes``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place to start one server."""

    directory: Path
    """Private, empty and writable: config, sockets, pids, logs and temporary files belong there. Its path is short,
    since sockets have 107 bytes, and ``PLAIN``."""
    listen: Endpoint
    """Where the server must listen."""
    settings: Settings
    """The value of every setting of the spec."""
    app: Hosted
    upstream: tuple[Endpoint, ...] = ()
    """The endpoints of the next hop, one per instance; empty for the last hop."""
    inside: Fragment | None = None
    """The fragment of the guest inside the server, if there is one."""
    cores: int = 1
    """How many cores the whole stack may use."""
    chosen: frozenset[str] = frozenset()
    """The settings that the stack's path gives: they win over those of ``file``."""
    options: tuple[GivenOption, ...] = ()
    """What the path says in the server's own language, to be passed on as it is."""
    file: NativeFile | None = None
    """A configuration file of the user's, to be used as it is but for what is decided here."""
    production: Production | None = None
    """What holds where the server is deployed for good; None for a race, which looks only for speed."""

    @property
    def forwards(self) -> Protocol | None:
        """The protocol of the next hop; None for the last one."""
        return self.upstream[0].protocol if self.upstream else None

    @property
    def runtime(self) -> Path:
        """Where pids and sockets belong that the server makes itself."""
        return self.directory if self.production is None else self.production.run

    @property
    def run(self) -> Path:
        """As ``runtime``, for servers that want a folder with nothing else in it."""
        return self.directory / "run" if self.production is None else self.production.run

    @property
    def logs(self) -> Path:
        """Where logs belong."""
        return self.directory / "logs" if self.production is None else self.production.logs

    @property
    def temporary(self) -> Path:
        """Where bodies wait that are too long for memory."""
        return self.directory / "tmp" if self.production is None else self.production.temporary

    @property
    def empty(self) -> Path:
        """A folder without files, for servers that must have a root for documents."""
        return self.directory / "htdocs" if self.production is None else self.production.temporary / "htdocs"

    @property
    def trusted_proxies(self) -> str:
        """Whom to believe what he says of a client, by address, separated by commas; see ``ANYBODY``."""
        return ANYBODY if self.production is None else self.production.trusted_proxies

    @property
    def kept_concerns(self) -> frozenset[Concern]:
        """What a configuration of the user's keeps although it is decided in a race: deployed, its variables."""
        return frozenset() if self.production is None else frozenset({Concern.VARIABLES})

    def stop(self, gently: signal.Signals, at_once: signal.Signals = signal.SIGTERM) -> signal.Signals:
        """Return the signal that ends the server: ``gently`` lets clients finish, where there are any."""
        return at_once if self.production is None else gently

    def patience_s(self, raced: int) -> int:
        """Return how long a stop may wait for requests; a race has none left and waits ``raced`` seconds."""
        return raced if self.production is None else self.production.graceful_s
