"""The apps that come with Stackrace, by name, with the pages of the published comparisons."""

from __future__ import annotations

import hashlib
import shutil
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..base.errors import InputError, Lack
from .app import App, Entry, EntryKind
from .interpreter import missing_gems

__all__ = [
    "BUNDLES",
    "DJANGO",
    "Bundled",
    "Need",
    "bundled",
    "digest",
    "is_bundled",
    "session_file",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A program, a file or a Ruby gem, and Debian's packages of it. What is left empty is not looked for."""

    packages: tuple[str, ...]
    program: str = ""
    file: Path | None = None
    gem: str = ""

    @property
    def words(self) -> str:
        """Say what is missing where it is."""
        if self.program:
            return f"no program {self.program}"
        return f"no file {self.file}" if self.file else f"no gem {self.gem}"


_C_COMPILER = (
    Need(program="gcc", packages=("gcc",)),
    Need(file=Path("/usr/include/stdio.h"), packages=("libc6-dev",)),
)
"""What packages without wheels are compiled with, beside the headers of Python."""


def _python_headers() -> tuple[Need, ...]:
    """Return the headers of Debian's own Python; any other brings its headers along."""
    folder = Path(sysconfig.get_path("include"))
    return (Need(file=folder / "Python.h", packages=("python3-dev",)),) if folder.parts[1:2] == ("usr",) else ()


def _lacking(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Return those that are not here. Without a Ruby every gem is lacking."""
    needs = tuple(needs)
    gems = missing_gems([need.gem for need in needs if need.gem])
    return tuple(
        need
        for need in needs
        if (need.program and shutil.which(need.program) is None)
        or (need.file and not need.file.exists())
        or need.gem in gems
    )


DJANGO = "django"
"""The name of the default."""

_LADDER = "ladder"
_RAILS = "rails"

_BUNDLED = Path(__file__).with_name("bundled")
_SESSIONS = Path(__file__).with_name("sessions")

_MIGRATE = ("python", "manage.py", "migrate", "--verbosity", "0")
_DRIVERS = {"postgresql": "requirements-postgresql.txt", "mariadb": "requirements-mariadb.txt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundled:
    """Where a bundled app is and how it is run."""

    name: str
    root: Path
    entry: Entry
    urls: tuple[str, ...]
    """The default workload."""
    pages: tuple[str, ...]
    """All there is to race."""
    prepare: tuple[tuple[str, ...], ...]
    """Commands to run before the first launch."""
    static: Mapping[str, Path]
    """Folders that a front end may serve, by URL prefix."""
    sessions: Mapping[str, Path] = field(default_factory=dict)
    """Recordings (HAR), by name."""
    seeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Commands, by name, that some pages and the session of that name need run after ``prepare``."""
    services: tuple[str, ...] = ()
    """Those it cannot do without."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that it runs with."""
    needs: tuple[Need, ...] = ()
    """What must be installed to build or run it."""
    packages: str = "requirements.txt"
    """The requirements file of its environment, where no database has one of its own."""
    public: str = ""
    """A folder below its data whose files are pages it has cached: a front end may serve them before it asks the
    app."""

    def lack(self) -> Lack | None:
        """Return what it lacks here, its services apart; None where it can be built and run."""
        needs = _lacking(self.needs)
        if not needs:
            return None
        packages = tuple(package for need in needs for package in need.packages)
        return Lack(name=self.name, missing=", ".join(need.words for need in needs), packages=packages)

    def requirements(self, services: Iterable[str] = ()) -> Path:
        """Return the requirements file of its environment: its framework, and its database's driver."""
        wanted = [self.root / _DRIVERS[service] for service in services if service in _DRIVERS]
        return next((file for file in wanted if file.is_file()), self.root / self.packages)

    def app(
        self, *, python: Path | None = None, ruby: Path | None = None, data: Path, services: Iterable[str] = ()
    ) -> App:
        """Return it as an app; ``data`` is an existing writable folder for all it writes."""
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
    """Return a bundled app; what it needs may depend on the variables of ``environment``, which it will run with.

    Nothing is ever written into its folder. Raises InputError for an unknown name.
    """
    if name not in BUNDLES:
        raise InputError(f"there is no bundled app {name!r}; known: {', '.join(BUNDLES)}")
    return BUNDLES[name](environment or {})


def is_bundled(app: App) -> bool:
    """Tell whether ``app`` is ours, which writes nothing but to its data folder."""
    return app.root.is_relative_to(_BUNDLED)


def digest(app: App) -> str | None:
    """Return what stands for every byte of a bundled app's folder; None for a user's own app.

    Byte code does not count: interpreters write it as they go.
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
    root = _BUNDLED / DJANGO
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


def _ladder(environment: Mapping[str, str]) -> Bundled:
    root = _BUNDLED / _LADDER
    rungs = ("string", "memcached", "mysql-c", "mysqldb", "sqlalchemy", "mix")
    pages = ("/static/hello.txt", *(f"/{rung}/" for rung in rungs))
    whole = Bundled(
        name=_LADDER,
        root=root,
        entry=Entry(kind=EntryKind.WSGI, target="ladder.wsgi:application"),
        urls=pages,
        pages=pages,
        prepare=(("python", "-m", "ladder.prepare"),),
        static={"/static/": root / "static"},
        services=("mariadb", "memcached"),
        # mysqlclient has no Linux wheels
        needs=(
            Need(program="mariadb_config", packages=("libmariadb-dev",)),
            Need(program="pkg-config", packages=("pkg-config",)),
            *_C_COMPILER,
            *_python_headers(),
        ),
    )
    if environment.get("LADDER_RUNGS") != "string":
        return whole
    # the one rung that looks nothing up needs neither services nor drivers, nor anything prepared
    return replace(whole, urls=pages[:2], prepare=(), services=(), needs=(), packages="requirements-string.txt")


_GEMS = {
    "railties": "ruby-railties",
    "activerecord": "ruby-activerecord",
    "actionpack": "ruby-actionpack",
    "actionpack-page_caching": "ruby-actionpack-page-caching",
    "sqlite3": "ruby-sqlite3",
    "mysql2": "ruby-mysql2",
    "dalli": "ruby-dalli",
}
"""Rails' gems, and Debian's packages of them."""


def _rails(environment: Mapping[str, str]) -> Bundled:
    return Bundled(
        name=_RAILS,
        root=_BUNDLED / _RAILS,
        entry=Entry(kind=EntryKind.RACK, target="config.ru"),
        urls=("/plain/", "/sqlite/1", "/cached/1"),
        pages=("/plain/", "/sqlite/1", "/mysql/1", "/cached/1", "/memcached/1"),
        # Rails' own frames would push the message out of what is shown of a failure
        prepare=(("ruby", "--backtrace-limit=8", "prepare.rb"),),
        static={},
        environment={"RAILS_ENV": "production", "RACK_ENV": "production"},
        needs=(
            Need(program="ruby", packages=("ruby",)),
            *(Need(gem=gem, packages=(package,)) for gem, package in _GEMS.items()),
        ),
        public="public",
    )


BUNDLES: Mapping[str, Callable[[Mapping[str, str]], Bundled]] = {DJANGO: _django, _LADDER: _ladder, _RAILS: _rails}
"""All of them, made when asked for from the variables that they will run with."""


_PREFIX = "bundled:"


def session_file(asked: Path, sessions: Mapping[str, Path]) -> Path:
    """Return the recording that ``asked`` stands for: one of ``sessions`` for ``bundled:NAME``, else itself.

    ``asked`` may have been made absolute. Raises InputError listing the names for one that is none.

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
