"""Signs history on SQLite, which knows no users: our own connections tell who is behind them.

A temporary trigger belongs to one connection, so other programs' changes stay by ``unknown``. PostgreSQL knows.
"""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

import getpass
import os

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

__all__ = ["sign", "sign_every_connection"]

_HISTORY = "stackrace_history"


def sign_every_connection() -> None:
    """Have each connection that Django opens from now on signed."""
    connection_created.connect(_opened, dispatch_uid="stackrace.store.authors")


def sign(connection: BaseDatabaseWrapper) -> None:
    """Sign what ``connection`` will change; does nothing on PostgreSQL and in a store without history yet."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = %s", [_HISTORY])
        if cursor.fetchone() is None:
            return
        who = f"{_user()}, stackrace".replace("'", "''")
        # a statement that makes a trigger takes no parameters
        cursor.execute(
            f"CREATE TEMP TRIGGER IF NOT EXISTS stackrace_signed AFTER INSERT ON main.{_HISTORY} "
            f"BEGIN UPDATE {_HISTORY} SET who = '{who}' WHERE id = NEW.id; END"
        )


def _opened(sender: object, connection: BaseDatabaseWrapper, **_: object) -> None:
    sign(connection)


def _user() -> str:
    """Return the user's name, or his number where it has none, as in containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
