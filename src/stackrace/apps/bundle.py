"""The apps that come with Stackrace, by name, with the pages of the published comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..model.app import App, Entry, EntryKind
from ..model.errors import InputError

__all__ = ["BUNDLES", "DJANGO", "Bundled", "bundled"]

DJANGO = "django"
"""The name of the default."""

_BUNDLED = Path(__file__).with_name("bundled")
_SESSIONS = Path(__file__).with_name("sessions")

_MIGRATE = ("python", "manage.py", "migrate", "--verbosity", "0")
_DRIVERS = {"postgresql": "requirements-postgresql.txt", "mariadb": "requirements-mariadb.txt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundled:
    """Where a bundled app is and how it is run.

    ``urls`` is the default workload, ``pages`` all there is to race. ``sessions`` are recordings (HAR), by name.
    ``seeds`` are the commands, by name, that some pages and the session of that name need run after ``prepare``.
    """

    name: str
    root: Path
    entry: Entry
    urls: tuple[str, ...]
    pages: tuple[str, ...]
    prepare: tuple[tuple[str, ...], ...]
    static: Mapping[str, Path]
    sessions: Mapping[str, Path] = field(default_factory=dict)
    seeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def requirements(self, services: Iterable[str] = ()) -> Path:
        """Return the requirements file of its environment: Django, and its database's driver."""
        wanted = [_DRIVERS[service] for service in services if service in _DRIVERS]
        return self.root / (wanted[0] if wanted else "requirements.txt")

    def app(self, *, python: Path, data: Path, services: Iterable[str] = ()) -> App:
        """Return it as an app; ``data`` is an existing writable folder for its SQLite file."""
        return App(
            name=f"bundled {self.name}",
            root=self.root,
            entry=self.entry,
            python=python,
            environment={"APP_DATA": str(data.absolute())},
            static=self.static,
            prepare=self.prepare,
            services=tuple(services),
        )


def bundled(name: str = DJANGO) -> Bundled:
    """Return a bundled app. Nothing is ever written into its folder. Raises InputError for an unknown name."""
    if name not in BUNDLES:
        raise InputError(f"no bundled app is called {name!r}; known are {', '.join(BUNDLES)}")
    return BUNDLES[name]()


def _django() -> Bundled:
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


_COMPARED = (
    "/hello/",
    "/ctime/",
    "/ten-kilobytes/",
    "/random-row/",
    "/fifteen-queries/",
    "/static/pages/site.css",
)
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
_FRAMEWORKS = (
    "/json/",
    "/plaintext/",
    "/db/",
    "/queries/?queries=20",
    "/fortunes/",
    "/updates/?queries=20",
)

BUNDLES: Mapping[str, Callable[[], Bundled]] = {DJANGO: _django}
"""All of them, made when asked for."""
