"""The apps that come with Stackrace, by name, with the pages of the published comparisons."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..model.app import App, Entry, EntryKind
from ..model.errors import InputError

__all__ = ["BUNDLES", "DJANGO", "Bundled", "bundled", "digest"]

DJANGO = "django"
"""The name of the default."""

_BUNDLED = Path(__file__).with_name("bundled")

_MIGRATE = ("python", "manage.py", "migrate", "--verbosity", "0")
_DRIVERS = {"postgresql": "requirements-postgresql.txt", "mariadb": "requirements-mariadb.txt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundled:
    """Where a bundled app is and how it is run.

    ``urls`` is the default workload, ``pages`` all there is to race.
    """

    name: str
    root: Path
    entry: Entry
    urls: tuple[str, ...]
    pages: tuple[str, ...]
    prepare: tuple[tuple[str, ...], ...]
    static: Mapping[str, Path]

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


def digest(app: App) -> str | None:
    """Return what stands for every byte of a bundled app's folder; None for a user's own app.

    Byte code does not count: interpreters write it as they go.
    """
    if not app.root.is_relative_to(_BUNDLED):
        return None
    found = hashlib.sha256()
    for path in sorted(app.root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = path.read_bytes()
            found.update(f"{path.relative_to(app.root)}\0{len(content)}\0".encode())
            found.update(content)
    return found.hexdigest()


def _django() -> Bundled:
    root = _BUNDLED / DJANGO
    pages = ("/hello/", "/ctime/", "/ten-kilobytes/", "/random-row/", "/static/pages/site.css")
    return Bundled(
        name=DJANGO,
        root=root,
        entry=Entry(kind=EntryKind.DJANGO, target="sample.settings"),
        urls=("/hello/", "/random-row/"),
        pages=pages,
        prepare=(_MIGRATE,),
        static={"/static/": root / "pages" / "static"},
    )


BUNDLES: Mapping[str, Callable[[], Bundled]] = {DJANGO: _django}
"""All of them, made when asked for."""
