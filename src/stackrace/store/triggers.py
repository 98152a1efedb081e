"""Triggers that keep history and ids, put into the database itself so that no program can go round them.

A migration that changes one of the guarded tables begins with ``disarm()`` and ends with ``arm()``: SQLite copies
tables, and triggers do not come along; new columns join the history that way, too.
"""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.migrations import RunPython

from . import triggers_postgresql, triggers_sqlite
from .guarded import GUARDED

__all__ = ["arm", "disarm", "put_in"]


def put_in(editor: Any) -> None:
    """Put the triggers in, for the columns that the tables have now."""
    connection = editor.connection
    if connection.vendor == "postgresql":
        _execute(editor, triggers_postgresql.create())
        return
    with connection.cursor() as cursor:
        # Django's own description parses all of a table's SQL, which takes half the time of a new store
        rows = cursor.execute("SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c").fetchall()
    columns = {guarded.table: [name for table, name in rows if table == guarded.table] for guarded in GUARDED}
    _execute(editor, triggers_sqlite.create(columns))


def _arm(apps: Any, editor: Any) -> None:
    put_in(editor)


def _disarm(apps: Any, editor: Any) -> None:
    """Take all the triggers out."""
    connection = editor.connection
    if connection.vendor == "postgresql":
        _execute(editor, triggers_postgresql.drop())
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'stackrace_%'")
        names = [name for (name,) in cursor.fetchall()]
    _execute(editor, triggers_sqlite.drop(names))


def _execute(editor: Any, statements: Iterable[str]) -> None:
    for statement in statements:
        editor.execute(statement, params=None)


def arm() -> RunPython:
    """Return the operation that ends a migration of guarded tables."""
    return RunPython(_arm, _disarm)


def disarm() -> RunPython:
    """Return the operation that begins a migration of guarded tables."""
    return RunPython(_disarm, _arm)
