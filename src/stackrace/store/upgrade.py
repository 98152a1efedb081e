"""Brings a store's tables up to date, once even when several processes open it at the same moment."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

import fcntl
import os
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from ..base.errors import StoreError
from .address import VARIABLE, Address, SqliteFile
from .apps import LABEL
from .authors import sign
from .creation import create
from .settings import is_read_only
from .trouble import translated

__all__ = ["bring_up_to_date"]

_ADVISORY_LOCK = 0x5354414B
"""Any constant: the key of PostgreSQL's lock around an upgrade."""


def bring_up_to_date(alias: str, address: Address) -> None:
    """Make a new store's tables, or apply what is missing; raises StoreError for what a newer Stackrace changed."""
    with translated(address), _alone_with_file(address):
        connection = connections[alias]
        if not _missing(connection, address):
            return
        if is_read_only(address):
            raise StoreError(
                f"store {address}: an earlier Stackrace has written it, and it cannot be upgraded, being "
                f"read-only. Copy it to a folder that can be written, and name that with {VARIABLE}"
            )
        with _alone_with_server(connection):
            missing = _missing(connection, address)
            if missing == _known():
                create(connection, missing)
            elif missing:
                executor = MigrationExecutor(connection)
                executor.migrate(executor.loader.graph.leaf_nodes(LABEL))
        sign(connection)


def _missing(connection: BaseDatabaseWrapper, address: Address) -> set[str]:
    """Return the names of the migrations still to apply."""
    applied = {name for label, name in MigrationRecorder(connection).applied_migrations() if label == LABEL}
    known = _known()
    if newer := sorted(applied - known):
        raise StoreError(
            f"store {address}: a newer Stackrace has written it ({newer[-1]}); "
            f"upgrade with: pip install --upgrade stackrace, or name another store with {VARIABLE}"
        )
    return known - applied


def _known() -> set[str]:
    return {module.name for module in pkgutil.iter_modules([str(Path(__file__).parent / "migrations")])}


@contextmanager
def _alone_with_file(address: Address) -> Iterator[None]:
    """Keep others out of the folder: SQLite's lock covers neither the switch to WAL nor a whole upgrade."""
    if not isinstance(address, SqliteFile):
        yield
        return
    folder = os.open(address.path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def _alone_with_server(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Hold PostgreSQL's advisory lock."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_ADVISORY_LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_ADVISORY_LOCK])
