"""Addresses of stores: a store's URL as a value, without importing any database driver."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from ..base.errors import StoreError

VARIABLE = "STACKRACE_STORE"
"""Environment variable that names the store if no argument does."""

_EXAMPLES = "sqlite:////var/lib/races.sqlite3 or postgresql://user:password@host:5432/database"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteFile:
    """SQLite file on this machine."""

    path: Path
    """Absolute path."""

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresqlDatabase:
    """Database of a PostgreSQL server."""

    name: str
    user: str = ""
    password: str = field(default="", repr=False)
    host: str = ""
    """Name of the host, or folder of its socket if it starts with a slash."""
    port: int | None = None
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Other connection parameters of libpq, such as ``sslmode``."""

    def __str__(self) -> str:
        """Return the URL without the password, fit to be shown."""
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        if self.host.startswith("/"):
            return f"postgresql://{user}{port}/{self.name}?host={self.host}"
        return f"postgresql://{user}{self.host}{port}/{self.name}"


Address = SqliteFile | PostgresqlDatabase


def address_of(url: str | None = None) -> Address:
    """Return the address in ``url``, else the one in STACKRACE_STORE, else the default file.

    As elsewhere, ``sqlite:///a`` is relative to the current folder and ``sqlite:////a`` starts at the root.
    """
    text = url or os.environ.get(VARIABLE, "")
    if not text:
        return default_file()
    scheme, separator, rest = text.partition("://")
    if not separator:
        return _sqlite(text)
    match scheme:
        case "sqlite":
            return _sqlite(unquote(rest.removeprefix("/")))
        case "postgresql" | "postgres":
            return _postgresql(text)
    raise StoreError(f"a store cannot be at {scheme}://…; write --store or {VARIABLE} like {_EXAMPLES}")


def default_file() -> SqliteFile:
    """Return the default SQLite file, in the user's data folder."""
    return SqliteFile(path=data_folder() / "races.sqlite3")


def data_folder() -> Path:
    """Return Stackrace's folder in ``~/.local/share``, or in XDG_DATA_HOME if set; it may not exist yet.

    Source: XDG Base Directory Specification; a relative XDG_DATA_HOME is to be ignored.
    """
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    home = given if given.is_absolute() else Path.home() / ".local" / "share"
    return home / "stackrace"


def _sqlite(name: str) -> SqliteFile:
    if not name:
        raise StoreError(f"the store's URL names no file: write {VARIABLE} like {_EXAMPLES}")
    return SqliteFile(path=Path(name).expanduser().absolute())


def _postgresql(url: str) -> PostgresqlDatabase:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError as error:
        raise StoreError(f"the store's URL has no usable port ({error}): write it like {_EXAMPLES}") from error
    options = dict(parse_qsl(parts.query))
    host = options.pop("host", None) or unquote(parts.hostname or "")
    name = unquote(parts.path.removeprefix("/"))
    if not name:
        raise StoreError(f"the store's URL names no database: write {VARIABLE} like {_EXAMPLES}")
    return PostgresqlDatabase(
        name=name,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        host=host,
        port=port,
        options=tuple(sorted(options.items())),
    )
