"""The triggers in SQLite's language.

They use nothing that another program's connection lacks, so a change made with the ``sqlite3`` shell leaves its
history, too; SQLite knows no users, so ``who`` is then ``unknown`` (see ``authors`` for our own connections).
Source: SQLite, "CREATE TRIGGER"; "JSON Functions And Operators".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .guarded import GUARDED, Guarded

__all__ = ["UNKNOWN", "create", "drop"]

UNKNOWN = "unknown"
_NOTHING = "''"
_NOW = "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')"


def create(columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the statements; ``columns`` are those of each guarded table."""
    for guarded in GUARDED:
        yield _identity(guarded)
        yield _unique(guarded)
        yield from _history(guarded, columns[guarded.table])
        if guarded.registered:
            yield from _registry(guarded)
    yield from _ids()


def drop(names: Iterable[str]) -> Iterator[str]:
    """Yield the statements that take the triggers ``names`` out."""
    for name in names:
        yield f'DROP TRIGGER "{name}"'


def _identity(guarded: Guarded) -> str:
    changed = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in guarded.identity)
    return (
        f"CREATE TRIGGER {guarded.table}_identity BEFORE UPDATE ON {guarded.table} WHEN {changed} "
        f"BEGIN SELECT RAISE(ABORT, 'an id never changes, nor where a row belongs'); END"
    )


def _unique(guarded: Guarded) -> str:
    """Refuse INSERT OR REPLACE, which deletes without any DELETE trigger unless recursive_triggers is on."""
    same = "id = NEW.id"
    if "position" in guarded.identity:
        same += " OR race_id = NEW.race_id AND position = NEW.position"
    return (
        f"CREATE TRIGGER {guarded.table}_unique BEFORE INSERT ON {guarded.table} "
        f"WHEN EXISTS (SELECT 1 FROM {guarded.table} WHERE {same}) "
        f"BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: a stored row is never replaced'); END"
    )


def _history(guarded: Guarded, columns: Sequence[str]) -> Iterator[str]:
    before, changed = _document(columns), _changed(columns)
    altered = f"{changed} <> ''"
    if guarded.filled:
        rest = _changed([column for column in columns if column not in guarded.filled])
        altered += f" AND NOT (({guarded.untouched.format(row='OLD')} OR {guarded.going_on}) AND {rest} = '')"
    table, name = guarded.table, f"CREATE TRIGGER {guarded.table}"
    entry = _entry(guarded, "update", "OLD", changed, before)
    yield f"{name}_update AFTER UPDATE ON {table} WHEN {altered} {entry}"
    entry = _entry(guarded, "delete", "OLD", _NOTHING, before)
    yield f"{name}_delete AFTER DELETE ON {table} {entry}"
    if guarded.kind != "race":
        race = guarded.race_of("NEW")
        ended = f"EXISTS (SELECT 1 FROM stackrace_race WHERE id = {race} AND ending IS NOT NULL)"
        entry = _entry(guarded, "insert", "NEW", _NOTHING, "NULL")
        yield f"{name}_insert AFTER INSERT ON {table} WHEN {ended} {entry}"


def _entry(guarded: Guarded, deed: str, row: str, changed: str, before: str) -> str:
    return (
        "BEGIN INSERT INTO stackrace_history (race, kind, row_id, deed, at, who, changed, before) VALUES "
        f"({guarded.race_of(row)}, '{guarded.kind}', CAST({row}.id AS TEXT), '{deed}', {_NOW}, '{UNKNOWN}', "
        f"trim({changed}), {before}); END"
    )


def _changed(columns: Iterable[str]) -> str:
    """Return an expression for the names of the columns that differ, each with a blank behind it."""
    names = (f"CASE WHEN OLD.\"{name}\" IS NOT NEW.\"{name}\" THEN '{name} ' ELSE '' END" for name in columns)
    return f"({' || '.join(names)})"


def _document(columns: Iterable[str]) -> str:
    """Return an expression for the old row as JSON, which knows neither bytes nor all the digits of a float."""
    pairs = (
        f"'{name}', CASE typeof(OLD.\"{name}\") WHEN 'blob' THEN hex(OLD.\"{name}\") "
        f"WHEN 'real' THEN printf('%!.17g', OLD.\"{name}\") ELSE OLD.\"{name}\" END"
        for name in columns
    )
    return f"json_object({', '.join(pairs)})"


def _registry(guarded: Guarded) -> Iterator[str]:
    table, within = guarded.table, "NULL" if guarded.kind == "race" else guarded.race_of("NEW")
    yield (
        f"CREATE TRIGGER {table}_registered AFTER INSERT ON {table} BEGIN "
        f"INSERT INTO stackrace_ids (id, kind, of_id) VALUES (NEW.id, '{guarded.kind}', {within}); END"
    )
    # a connection without foreign_keys=ON, as most have, does not cascade
    yield (
        f"CREATE TRIGGER {table}_struck AFTER DELETE ON {table} BEGIN "
        "DELETE FROM stackrace_ids WHERE of_id = OLD.id; DELETE FROM stackrace_ids WHERE id = OLD.id; END"
    )


def _ids() -> Iterator[str]:
    yield (
        "CREATE TRIGGER stackrace_ids_unique BEFORE INSERT ON stackrace_ids "
        "WHEN EXISTS (SELECT 1 FROM stackrace_ids WHERE id = NEW.id "
        "OR NEW.kind = 'name' AND kind = 'name' AND of_id = NEW.of_id) "
        "BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: an id is given once'); END"
    )
    yield (
        "CREATE TRIGGER stackrace_ids_identity BEFORE UPDATE ON stackrace_ids "
        "BEGIN SELECT RAISE(ABORT, 'an id never changes'); END"
    )
    yield (
        "CREATE TRIGGER stackrace_ids_kept BEFORE DELETE ON stackrace_ids "
        "WHEN EXISTS (SELECT 1 FROM stackrace_race "
        "WHERE id = CASE OLD.kind WHEN 'name' THEN OLD.of_id ELSE OLD.id END) "
        "OR EXISTS (SELECT 1 FROM stackrace_launch WHERE id = OLD.id) "
        "BEGIN SELECT RAISE(ABORT, 'an id stays as long as what it names'); END"
    )
