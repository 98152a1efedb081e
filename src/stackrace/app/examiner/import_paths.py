"""Report the places that a Django project writes to, by its settings, or the places of editable installs.

The report is JSON, written to the file descriptor given as first argument; the second is ``data`` or ``imports``.
The app's own interpreter runs this script before any other code of the app.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any

_FILE_SESSIONS = "django.contrib.sessions.backends.file"


def _main() -> None:
    """Write the report; if the project does not work, nothing is written, and its examination says why."""
    number, wanted = sys.argv[1:]
    sys.argv[1:] = ["stackrace_entry:application"]
    with os.fdopen(int(number), "w", encoding="utf-8") as report:
        report.write(json.dumps(_data() if wanted == "data" else _imports()))


def _data() -> dict[str, Any]:
    sys.path[0] = os.getcwd()  # noqa: PTH109
    settings: Any = import_module("django.conf").settings
    return {"files": _files(settings), "folders": _folders(settings), "servers": _servers(settings)}


def _files(settings: Any) -> list[str]:
    names = [str(database.get("NAME") or "") for database in settings.DATABASES.values() if _is_sqlite(database)]
    handlers = (getattr(settings, "LOGGING", None) or {}).get("handlers", {})
    logs = [str(handler["filename"]) for handler in handlers.values() if handler.get("filename")]
    return [os.path.abspath(path) for path in map(_path, [*names, *logs]) if path]  # noqa: PTH100


def _path(name: str) -> str:
    """Return the file of a SQLite name, which may be a URI; empty for a database in memory."""
    if ":memory:" in name or "mode=memory" in name:
        return ""
    return name[len("file:") :].partition("?")[0] if name.startswith("file:") else name


def _folders(settings: Any) -> list[str]:
    folders = [settings.MEDIA_ROOT, settings.STATIC_ROOT, getattr(settings, "EMAIL_FILE_PATH", None)]
    if settings.SESSION_ENGINE == _FILE_SESSIONS:
        folders.append(settings.SESSION_FILE_PATH)
    caches, storages = settings.CACHES.values(), (getattr(settings, "STORAGES", None) or {}).values()
    folders += [cache.get("LOCATION") for cache in caches if str(cache.get("BACKEND")).endswith("FileBasedCache")]
    folders += [(storage.get("OPTIONS") or {}).get("location") for storage in storages]
    return [os.path.abspath(str(folder)) for folder in folders if folder]  # noqa: PTH100


def _servers(settings: Any) -> list[dict[str, str]]:
    """Return alias, engine, name, host and port of each database that is not a file."""
    return [
        {
            "alias": str(alias),
            "engine": str(database.get("ENGINE", "")).rpartition(".")[2],
            "name": str(database.get("NAME") or ""),
            "host": str(database.get("HOST") or ""),
            "port": str(database.get("PORT") or ""),
        }
        for alias, database in settings.DATABASES.items()
        if database.get("ENGINE") and not _is_sqlite(database) and not str(database["ENGINE"]).endswith(".dummy")
    ]


def _is_sqlite(database: Any) -> bool:
    return str(database.get("ENGINE", "")).endswith(("sqlite3", "spatialite"))


def _imports() -> dict[str, Any]:
    """Return sys.path, and the modules of editable installs: file or folder by module name.

    Finders of an unknown kind are left out.
    """
    return {"path": sys.path[1:], "modules": _modules()}


def _modules() -> dict[str, str]:
    """Return the modules in the finders of setuptools (MAPPING) and of the package "editables" (_redirections)."""
    modules: dict[str, Any] = {}
    for finder in sys.meta_path:
        home = sys.modules.get(getattr(finder, "__module__", ""))
        modules.update(getattr(home, "MAPPING", None) or {})
        modules.update(getattr(finder, "_redirections", None) or {})
    return {str(name): str(place) for name, place in modules.items()}


if __name__ == "__main__":
    _main()
