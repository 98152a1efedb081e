"""The apps that come with Stackrace, by name: the core has a Django app, features add others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..base.errors import InputError, MissingItem
from ..extensions import BundledApp, declared, load
from .app import App, Entry, EntryKind

DJANGO = "django"
"""Name of the default bundled app."""

_OURS = Path(__file__).parents[1]
"""Folder of the package: features have bundled apps, too."""
_SESSIONS = Path(__file__).with_name("sessions")

_MIGRATE = ("python", "manage.py", "migrate", "--verbosity", "0")
_DRIVERS = {"postgresql": "requirements-postgresql.txt", "mariadb": "requirements-mariadb.txt"}


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundled:
    """A bundled app: its folder, and how it is run."""

    name: str
    root: Path
    entry: Entry
    urls: tuple[str, ...]
    """Paths of the default workload."""
    pages: tuple[str, ...]
    """Paths of all pages that can be raced."""
    prepare: tuple[tuple[str, ...], ...]
    """Commands to run before the first launch."""
    static: Mapping[str, Path]
    """Folders that a front end may serve, by URL prefix."""
    sessions: Mapping[str, Path] = field(default_factory=dict)
    """Recordings (HAR), by name."""
    seeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Commands, by name, that some pages and the session of that name need run after ``prepare``."""
    services: tuple[str, ...] = ()
    """Services that the app needs."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the app."""
    missing_item: Callable[[], MissingItem | None] = _nothing
    """Function that returns what the app lacks here, except services; None if it can be built and run."""
    packages: str = "requirements.txt"
    """Requirements file of its environment, unless its database has a requirements file of its own."""
    public: str = ""
    """Folder below the app's data with pages that it has cached, which a front end may serve before it asks the
    app; empty without one."""

    def requirements(self, services: Iterable[str] = ()) -> Path:
        """Return the requirements file of its environment: framework, and the driver of its database, if any."""
        wanted = [self.root / _DRIVERS[service] for service in services if service in _DRIVERS]
        return next((file for file in wanted if file.is_file()), self.root / self.packages)

    def app(
        self, *, python: Path | None = None, ruby: Path | None = None, data: Path, services: Iterable[str] = ()
    ) -> App:
        """Return the app to race; ``data`` is an existing writable folder for all files that the app writes."""
        return App(
            name=f"bundled {self.name}",
            root=self.root,
            entry=self.entry,
            python=python,
            ruby=ruby,
            public=data.absolute() / self.public if self.public else None,
            environment={**self.environment, "APP_DATA": str(data.absolute())},
            static=self.static,
            prepare=self.prepare,
            services=tuple(dict.fromkeys((*self.services, *services))),
        )


def bundled(name: str = DJANGO, environment: Mapping[str, str] | None = None) -> Bundled:
    """Return a bundled app; its needs may depend on ``environment``, the variables that it will run with.

    The app never writes into its own folder. Raises InputError for an unknown name.
    """
    makers = _makers()
    if name not in makers:
        raise InputError(f"there is no bundled app {name!r}; known: {', '.join(makers)}")
    make: Callable[[Mapping[str, str]], Bundled] = load(makers[name])
    return make(environment or {})


def bundled_names() -> tuple[str, ...]:
    """Return the names of all bundled apps, the default first."""
    return tuple(_makers())


def _makers() -> dict[str, str]:
    return {DJANGO: f"{__name__}:_django", **{each.name: each.import_path for each in declared(BundledApp)}}


def is_bundled(app: App) -> bool:
    """Tell whether ``app`` is a bundled app, which writes only to its data folder."""
    return app.root.is_relative_to(_OURS)


def digest(app: App) -> str | None:
    """Return the SHA-256, in hexadecimal, of all files of a bundled app's folder; None for a user's own app.

    Byte code is left out, because interpreters write it while they run.
    """
    if not is_bundled(app):
        return None
    whole = hashlib.sha256()
    for path in sorted(app.root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = path.read_bytes()
            whole.update(f"{path.relative_to(app.root)}\0{len(content)}\0".encode())
            whole.update(content)
    return whole.hexdigest()


_COMPARED = ("/hello/", "/ctime/", "/ten-kilobytes/", "/random-row/", "/fifteen-queries/", "/static/pages/site.css")
_BROWSED = (
    "/browse/",
    "/browse/books/",
    "/browse/books/?after=100001",
    "/browse/books/?last=1",
    "/browse/books/123456/",
    "/browse/publishers/",
    "/browse/publishers/1234/",
    "/browse/loans/",
    "/browse/loans/?last=1",
    "/static/library/library.css",
    "/static/library/library.js",
    "/static/library/bookplate.png",
)
_FRAMEWORKS = ("/json/", "/plaintext/", "/db/", "/queries/?queries=20", "/fortunes/", "/updates/?queries=20")


def _django(environment: Mapping[str, str]) -> Bundled:
    root = Path(__file__).with_name("bundled") / DJANGO
    return Bundled(
        name=DJANGO,
        root=root,
        entry=Entry(kind=EntryKind.DJANGO, target="sample.settings"),
        urls=("/hello/", "/random-row/"),
        pages=(*_COMPARED, *_BROWSED, *_FRAMEWORKS),
        prepare=(_MIGRATE,),
        static={"/static/": root / "pages" / "static"},
        sessions={"browse": _SESSIONS / "browse.har"},
        seeds={name: ("python", "manage.py", "seed", name) for name in ("browse", "world")},
    )


_PREFIX = "bundled:"


def session_file(asked: Path, sessions: Mapping[str, Path]) -> Path:
    """Return the recording that ``asked`` names: one of ``sessions`` for ``bundled:NAME``, else ``asked`` itself.

    ``asked`` may have been made absolute. Raises InputError with the known names for an unknown NAME.

    >>> session_file(Path("/races/bundled:browse"), {"browse": Path("browse.har")}).name
    'browse.har'
    """
    if not asked.name.startswith(_PREFIX):
        return asked
    name = asked.name.removeprefix(_PREFIX)
    if name not in sessions:
        known = ", ".join(sorted(sessions)) or "none"
        raise InputError(
            f"session = {asked.name!r}: the bundled app has no session of that name; known are {known}"
        )
    return sessions[name]
