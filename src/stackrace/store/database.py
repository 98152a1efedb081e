"""Database behind a store: sets Django up in this process, creates tables, and translates the driver's errors."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

import getpass
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, IntegrityError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

from ..base.errors import StoreError
from ..base.unix import fcntl
from ..deploy.privileges import private_folder
from .address import VARIABLE, Address, PostgresqlDatabase, SqliteFile, default_file
from .apps import LABEL, StoreConfig

_MIGRATION = "0001_initial"

_BUSY_TIMEOUT_S = 30
_CONNECT_TIMEOUT_S = 5
_ADVISORY_LOCK = 0x5354414B
"""Key of PostgreSQL's lock while tables are created; any constant."""

_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL"
"""Settings of SQLite: readers never wait for a running race, and a commit survives if its process is killed.

NORMAL does not wait for the disk at each commit, so storing a slice does not disturb the next one. The end of a
block waits (``on_disk``). Commits reach the disk in their order: a power failure can cost those since that, and no
earlier one. Source: SQLite, "Write-Ahead Logging", section 3.
"""

_WAYS_OUT = {
    "file is not a database": f"it is no SQLite database; name another file with {VARIABLE}",
    "unable to open database file": f"it cannot be opened; make its folder writable or set {VARIABLE}",
    "readonly database": f"it may not be written; make it and its folder writable or set {VARIABLE}",
    "disk is full": "the disk is full; free some space and start the race again",
    "disk i/o error": f"the disk, or ulimit -f, does not take it; check both, or move the store with {VARIABLE}",
    "malformed": "it is damaged; save what can be saved with the command: sqlite3 FILE .recover",
    "locked": "another process keeps it locked; end that process or wait for it",
    "authentication failed": f"the server refuses this user; put user and password into {VARIABLE}",
    "no password supplied": f"the server wants a password; put it into {VARIABLE}",
    "local user": "this user has no name; put the database's user into the URL, as in postgresql://ana@host/races",
    "does not exist": "the server has no such database or role; make it with createdb or createuser",
    "permission denied for schema": "this user may not make tables there; grant it CREATE on the schema",
    "permission denied": "this user may not do that; grant it SELECT, INSERT and UPDATE on the store's tables",
    "too many clients": "the server has no connection left; raise its max_connections",
    "connection": f"the server cannot be reached; start it or correct {VARIABLE}",
    "could not translate host": f"the server's name is unknown; correct it in {VARIABLE}",
    "timeout expired": f"the server does not answer; start it or correct {VARIABLE}",
}

_NO_DRIVER = "it needs the driver psycopg in Stackrace's own environment: pip install 'psycopg[binary]'"

_aliases: dict[Address, str] = {}


def open_database(address: Address) -> str:
    """Return Django's alias of the database at ``address``; create its tables if they do not exist.

    Raise StoreError if it cannot be opened, or if another version of Stackrace made it.
    """
    if isinstance(address, SqliteFile):
        _need_folder(address)
        _make_private(address.path, always=address == default_file())
    configure()
    alias = _connect(address)
    with translated(address), _file_locked(address):
        connection = connections[alias]
        if not _has_tables(connection, address):
            if is_read_only(address):
                raise StoreError(
                    f"store {address}: it is empty, and read-only: no tables can be made in it. Make it and its "
                    f"folder writable, or name another with {VARIABLE}"
                )
            with _server_locked(connection):
                if not _has_tables(connection, address):
                    _make_tables(connection)
            _record_user(connection)
    return alias


def configure() -> None:
    """Set up Django, once; later calls do nothing. DJANGO_SETTINGS_MODULE is the user's and is not read."""
    if not settings.configured:
        settings.configure(
            INSTALLED_APPS=[StoreConfig.name], LOGGING_CONFIG=None, TIME_ZONE="UTC", USE_I18N=False, USE_TZ=True
        )
    apps.populate(settings.INSTALLED_APPS)
    connection_created.connect(_on_connection, dispatch_uid=f"{StoreConfig.name}.signed")
    if not apps.is_installed(StoreConfig.name):
        raise StoreError(f"Django is in use in this process: add {StoreConfig.name!r} to its INSTALLED_APPS")


def _connect(address: Address) -> str:
    """Register ``address`` with Django and return its alias; nothing is opened yet."""
    if address not in _aliases:
        alias = f"store{len(_aliases)}"
        known = connections.configure_settings({"default": {}, alias: _options(address)})
        connections.settings[alias] = known[alias]
        _aliases[address] = alias
    return _aliases[address]


def is_read_only(address: Address) -> bool:
    """Return True if the store exists and can be read, but neither it nor its folder can be written."""
    if not isinstance(address, SqliteFile) or not address.path.is_file():
        return False
    return not (os.access(address.path, os.W_OK) and os.access(address.path.parent, os.W_OK))


@contextmanager
def on_disk(alias: str) -> Iterator[None]:
    """Have commits in the block wait until they are on the disk, with all earlier ones, as PostgreSQL's do anyway.

    Source: SQLite, "PRAGMA synchronous"; PostgreSQL, "synchronous_commit".
    """
    connection = connections[alias]
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=FULL")
        try:
            yield
        finally:
            cursor.execute("PRAGMA synchronous=NORMAL")


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Translate every database error in the block into a StoreError that names the store at ``address``."""
    try:
        yield
    except IntegrityError as error:
        raise StoreError(
            f"store {address}: an id is already in use, or does not exist", detail=str(error)
        ) from error
    except ImproperlyConfigured as error:
        raise StoreError(f"store {address}: {_NO_DRIVER}", detail=str(error)) from error
    except OverflowError as error:
        raise StoreError(f"store {address}: a number is too large to be stored", detail=str(error)) from error
    except (Error, OSError) as error:
        raise StoreError(f"store {address}: {_remedy(str(error))}", detail=str(error)) from error


def _remedy(complaint: str) -> str:
    lowered = complaint.lower()
    for fragment, way_out in _WAYS_OUT.items():
        if fragment in lowered:
            return way_out
    return f"the database refused; repair it or name another store with {VARIABLE}"


def _need_folder(address: SqliteFile) -> None:
    """Create the default file's folder. Any other folder must exist, so that a mistyped URL creates nothing."""
    folder = address.path.parent
    try:
        if address == default_file():
            private_folder(folder)
    except OSError as error:
        raise StoreError(
            f"store {address}: its folder cannot be made ({error.strerror}); set {VARIABLE} to another file"
        ) from error
    try:
        address.path.stat()
    except PermissionError as error:
        raise StoreError(
            f"store {address}: it is another user's, who alone may read it; start as that user, or set {VARIABLE} "
            "to another file"
        ) from error
    except OSError:
        # SQLite reports what cannot be opened
        pass
    if not folder.is_dir():
        raise StoreError(
            f"store {address}: there is no folder {folder}; make it with: mkdir -p {shlex.quote(str(folder))} "
            "or correct the URL (sqlite:////a starts at the root, sqlite:///a in the current folder)"
        )


def _make_private(path: Path, *, always: bool) -> None:
    """Create a file for its owner only; with ``always`` restrict an existing one. SQLite's others follow."""
    with suppress(OSError):
        # SQLite reports what cannot be created
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with suppress(OSError):
        if always and path.stat().st_mode & 0o077:
            path.chmod(0o600)


def _options(address: Address) -> dict[str, object]:
    match address:
        case SqliteFile(path=path) if is_read_only(address):
            # a log beside the file may hold the last commits
            log = path.with_name(f"{path.name}-wal")
            mode = "mode=ro" if log.is_file() and log.stat().st_size > 0 else "immutable=1"
            return {"ENGINE": "django.db.backends.sqlite3", "NAME": f"file:{quote(str(path))}?{mode}"}
        case SqliteFile(path=path):
            return {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(path),
                "OPTIONS": {
                    "init_command": _PRAGMAS,
                    "timeout": _BUSY_TIMEOUT_S,
                    "transaction_mode": "IMMEDIATE",
                },
            }
        case PostgresqlDatabase():
            return {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": address.name,
                "USER": address.user,
                "PASSWORD": address.password,
                "HOST": address.host,
                "PORT": str(address.port or ""),
                "OPTIONS": {
                    "connect_timeout": str(_CONNECT_TIMEOUT_S),
                    "application_name": "stackrace",  # history tells it beside the user
                    **dict(address.options),
                },
            }


def _has_tables(connection: BaseDatabaseWrapper, address: Address) -> bool:
    """Return True if the tables exist; raise StoreError if another version made them."""
    applied = {name for label, name in MigrationRecorder(connection).applied_migrations() if label == LABEL}
    if newer := sorted(applied - {_MIGRATION}):
        raise StoreError(
            f"store {address}: a newer Stackrace has written it ({newer[-1]}); "
            f"upgrade with: pip install --upgrade stackrace, or name another store with {VARIABLE}"
        )
    return bool(applied)


def _make_tables(connection: BaseDatabaseWrapper) -> None:
    """Create all tables with their triggers and record it, in full or not at all."""
    recorder = MigrationRecorder(connection)
    recorder.ensure_schema()
    migration = import_module(f"{StoreConfig.name}.migrations.{_MIGRATION}").Migration(_MIGRATION, LABEL)
    with connection.schema_editor() as editor:
        migration.apply(ProjectState(), editor)
        recorder.record_applied(LABEL, _MIGRATION)


@contextmanager
def _file_locked(address: Address) -> Iterator[None]:
    """Lock the store's folder: SQLite's lock covers neither the switch to WAL nor all tables at once."""
    if not isinstance(address, SqliteFile) or sys.platform == "win32":
        yield
        return
    folder = os.open(address.path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def _server_locked(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Hold an advisory lock of the database; SQLite needs none."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_ADVISORY_LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_ADVISORY_LOCK])


def _on_connection(sender: object, connection: BaseDatabaseWrapper, **_: object) -> None:
    _record_user(connection)


def _record_user(connection: BaseDatabaseWrapper) -> None:
    """Name the current user in SQLite's history for changes by ``connection``. PostgreSQL does it by itself.

    A temporary trigger belongs to one connection, so changes by other programs are by ``unknown``. Does nothing in
    a database that has no history yet.
    """
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'stackrace_history'")
        if cursor.fetchone() is None:
            return
        who = f"{_user_name()}, stackrace".replace("'", "''")
        # a statement that makes a trigger takes no parameters
        cursor.execute(
            "CREATE TEMP TRIGGER IF NOT EXISTS stackrace_signed AFTER INSERT ON main.stackrace_history "
            f"BEGIN UPDATE stackrace_history SET who = '{who}' WHERE id = NEW.id; END"
        )


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
