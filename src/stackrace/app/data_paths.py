"""Find the files, folders and databases that an app writes to, and the paths that its interpreter imports from."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from ..base.files import is_folder, is_present, real_path
from ..base.process import within
from ..base.process.view import ProtectedView
from ..base.temporary import temporary_file
from .app import App, EntryKind
from .environment import app_environment
from .projects.detection import VARIABLE, settings_set_by

_SCRIPT = Path(__file__).with_name("examiner") / "import_paths.py"
_PATIENCE_S = 30.0


def _script_report(app: App, wanted: str, environment: Mapping[str, str], view: ProtectedView) -> dict[str, Any]:
    """Run the examiner's script in the app's folder and return its report on ``wanted``: ``imports`` or ``data``.

    The report is empty if the interpreter does not start: its examination says why.
    """
    with temporary_file() as report, suppress(OSError):
        status = view.attended(
            [str(app.python), str(_SCRIPT), str(report.fileno()), wanted],
            within(_PATIENCE_S),
            folder=app.root,
            environment=environment,
            pass_fds=[report.fileno()],
        )
        report.seek(0)
        with suppress(ValueError):
            document: dict[str, Any] = json.loads(report.read())
            return {} if status is None else document
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPaths:
    """Places in which an interpreter looks for modules."""

    folders: tuple[Path, ...] = ()
    """sys.path."""
    modules: Mapping[str, Path] = field(default_factory=dict)
    """Files or folders of modules that are found without sys.path, by module name."""

    @property
    def roots(self) -> tuple[Path, ...]:
        """Folders that imports start from; a module whose name differs from its path adds no folder."""
        modules = (_root_of(name, place) for name, place in self.modules.items())
        return tuple(dict.fromkeys((*self.folders, *filter(None, modules))))


def _root_of(name: str, file: Path) -> Path | None:
    parts = tuple(name.split("."))
    module = file.parent if file.name == "__init__.py" else file.with_suffix("")
    return module.parents[len(parts) - 1] if module.parts[-len(parts) :] == parts else None


def import_paths(app: App, view: ProtectedView) -> ImportPaths:
    """Return the import paths of ``app``; empty without Python, or if its Python does not start in ``view``."""
    if app.python is None:
        return ImportPaths()
    report = _script_report(app, "imports", app_environment(app), view)
    return ImportPaths(
        folders=tuple(map(Path, report.get("path", ()))),
        modules={name: Path(place) for name, place in report.get("modules", {}).items()},
    )


_SQLITE = re.compile(r"sqlite3?(\+\w+)?:///(?P<path>[^?]+)")
_KINDS = {"postgres": "postgresql", "postgresql": "postgresql", "postgis": "postgresql", "mysql": "mysql"} | {
    "mariadb": "mysql",
    "mssql": "mssql",
    "oracle": "oracle",
}
"""Kinds of databases, by the scheme of a database URL or Django's name of the engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseServer:
    """A database on a server, as opposed to a file."""

    kind: str
    """``postgresql``, ``mysql``…"""
    name: str
    host: str
    """Empty for this machine; a folder for a unix socket in it."""
    port: str
    """Port; empty if none is given."""
    key: str
    """Setting or variable that names the database: ``DATABASES['default']``, ``DATABASE_URL``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPaths:
    """Files, folders and database servers that an app writes to."""

    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    servers: tuple[DatabaseServer, ...] = ()

    @property
    def present_files(self) -> tuple[Path, ...]:
        """The files whose folder exists, with links resolved."""
        resolved = (real_path(path) for path in self.files)
        return tuple(dict.fromkeys(path for path in resolved if is_folder(path.parent)))

    @property
    def present_folders(self) -> tuple[Path, ...]:
        """The folders that exist or that Stackrace could create, with links resolved."""
        resolved = (real_path(folder) for folder in self.folders)
        return tuple(dict.fromkeys(folder for folder in resolved if is_folder(folder) or _can_be_made(folder)))

    @property
    def kinds_of_servers(self) -> frozenset[str]:
        """The kinds of its database servers."""
        return frozenset(server.kind for server in self.servers)


def data_paths(app: App, view: ProtectedView) -> DataPaths:
    """Return the data paths that Django's settings, loaded in ``view``, and the app's variables name.

    A project of Django may be given by its wsgi.py or asgi.py. Settings that do not load add nothing.
    """
    environment = app_environment(app)
    is_django = app.entry.kind is EntryKind.DJANGO
    if app.entry.kind in (EntryKind.WSGI, EntryKind.ASGI):
        module = app.entry.target.partition(":")[0]
        for settings in filter(None, settings_set_by(module, app.root)):
            environment, is_django = {VARIABLE: settings, **environment}, True
    report = _script_report(app, "data", environment, view) if is_django else {}
    servers = [
        DatabaseServer(
            kind=_KINDS.get(server["engine"], server["engine"]),
            name=server["name"],
            host=server["host"],
            port=server["port"],
            key=f"DATABASES['{server['alias']}']",
        )
        for server in report.get("servers", ())
    ]
    return DataPaths(
        files=(*map(Path, report.get("files", ())), *database_files(app)),
        folders=tuple(map(Path, report.get("folders", ()))),
        # Django's own settings say what it does with its variables
        servers=tuple(servers or _servers(environment)),
    )


def _can_be_made(folder: Path) -> bool:
    return os.access(next(each for each in folder.parents if is_present(each)), os.W_OK)


def database_files(app: App) -> Iterator[Path]:
    """Yield the SQLite files that variables name, as ``sqlite:///data.db`` or ``sqlite:////srv/data.db``."""
    for value in app_environment(app).values():
        if (found := _SQLITE.match(value)) and not found["path"].startswith(":"):
            yield app.root / unquote(found["path"])


def _servers(environment: Mapping[str, str]) -> Iterator[DatabaseServer]:
    for key, value in environment.items():
        kind = _KINDS.get(value.partition("://")[0].partition("+")[0]) if "://" in value else None
        if kind is None:
            continue
        with suppress(ValueError):
            url = urlsplit(value)
            name = unquote(url.path.lstrip("/"))
            host = dict(parse_qsl(url.query)).get("host") or unquote(url.hostname or "")
            port = str(url.port or "")
            yield DatabaseServer(kind=kind, name=name, host=host, port=port, key=key)
