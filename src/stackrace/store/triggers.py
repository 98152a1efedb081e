"""Triggers that keep history and ids, put into the database itself so that no program can go round them.

Each is described once. ``Dialect`` holds what SQLite and PostgreSQL write differently.

In SQLite they use nothing that another program's connection lacks, so a change made with the ``sqlite3`` shell is
recorded, too. In PostgreSQL each function runs with its owner's rights and search path: whoever may change a result
leaves history without any right on the history itself, and ``session_user`` stays the one who logged in.

Source: SQLite, "CREATE TRIGGER"; "JSON Functions And Operators". PostgreSQL, "Trigger Functions";
"CREATE FUNCTION", "Writing SECURITY DEFINER Functions Safely".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["statements"]

UNKNOWN = "unknown"
"""Who changed a row in SQLite, which knows no users; our own connections sign, see ``database``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """One table whose rows are guarded, and what may still change in them."""

    table: str
    kind: str
    """What history calls its rows."""
    race: str
    """An SQL expression for the race that the row belongs to, with ``{row}`` for the row."""
    identity: tuple[str, ...]
    """Columns that never change: they say what a row is and where it belongs."""
    filled: tuple[str, ...] = ()
    """Columns that are written once more while a race is measured: at the end of a launch, or of the race."""
    filling: str = "FALSE"
    """A condition on OLD and NEW, never NULL, under which only ``filled`` may change without an entry in history:
    they were not written so far, or an interrupted race goes on."""
    registered: bool = False
    """Whether its ids are in the registry."""


GUARDED = (
    Guarded(
        table="stackrace_race",
        kind="race",
        race="{row}.id",
        identity=("id",),
        filled=("ending", "elapsed_s", "resumed", "budget_s", "twin", "duty"),
        # going on is counted, so that it shows
        filling="OLD.ending IS NULL OR OLD.ending = 'interrupted' AND NEW.ending IS NULL "
        "AND NEW.resumed = OLD.resumed + 1",
        registered=True,
    ),
    Guarded(table="stackrace_stack_facts", kind="facts", race="{row}.race_id", identity=("id", "race_id")),
    Guarded(
        table="stackrace_launch",
        kind="launch",
        race="{row}.race_id",
        identity=("id", "race_id", "position"),
        filled=("failure_kind", "document"),
        # or a launch of the block that was cut; what the launch was before stays in its message
        filling="OLD.document = '{}' AND OLD.failure_kind IS NULL AND EXISTS "
        "(SELECT 1 FROM stackrace_race WHERE id = OLD.race_id AND ending IS NULL) "
        "OR COALESCE(NEW.failure_kind, '') = 'interrupted' AND COALESCE(OLD.failure_kind, '') <> 'interrupted' "
        "AND EXISTS (SELECT 1 FROM stackrace_race WHERE id = OLD.race_id AND ending IS NULL AND resumed > 0)",
        registered=True,
    ),
    Guarded(
        table="stackrace_slice",
        kind="slice",
        # of a launch that somebody has deleted first, history still knows the race
        race="COALESCE((SELECT race_id FROM stackrace_launch WHERE id = {row}.launch_id), "
        "(SELECT MAX(race) FROM stackrace_history WHERE kind = 'launch' AND row_id = {row}.launch_id), '')",
        identity=("id", "launch_id"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """What happens at an event, for each row."""

    table: str
    name: str
    """Unique within the table."""
    event: str
    """As SQL has it: ``AFTER UPDATE``."""
    action: str
    """Statements, each with its semicolon."""
    condition: str = "TRUE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What one kind of database writes in its own way."""

    differs: str
    """The operator between two values of which both may be NULL."""
    now: str
    """An expression for the time, UTC in ISO 8601."""
    who: str
    """An expression for whoever makes the change."""
    row: Callable[[Sequence[str]], str]
    """Makes an expression for the OLD row as JSON, of the names of its columns."""
    refuse: Callable[[str], str]
    """Makes a statement that refuses the event, for this reason."""
    further: Callable[[Guarded], Iterator[Trigger]]
    """Triggers against what only this kind of database can do to a table."""
    create: Callable[[Trigger], Iterator[str]]
    """Makes the statements that put a trigger in."""


def statements(vendor: str, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what puts all triggers into a ``vendor``'s database; ``columns`` are those of each table."""
    dialect = _POSTGRESQL if vendor == "postgresql" else _SQLITE
    for guarded in GUARDED:
        for trigger in _triggers(guarded, columns[guarded.table], dialect):
            yield from dialect.create(trigger)
    for trigger in _of_ids(dialect):
        yield from dialect.create(trigger)


def _triggers(guarded: Guarded, columns: Sequence[str], dialect: Dialect) -> Iterator[Trigger]:
    """Yield the triggers of one table, whose columns are ``columns``."""
    table = guarded.table
    yield Trigger(
        table=table,
        name="identity",
        event="BEFORE UPDATE",
        condition=" OR ".join(f"OLD.{column} {dialect.differs} NEW.{column}" for column in guarded.identity),
        action=dialect.refuse("an id never changes, nor where a row belongs"),
    )
    yield from _history(guarded, columns, dialect)
    if guarded.registered:
        yield from _registry(guarded)
    yield from dialect.further(guarded)


def _history(guarded: Guarded, columns: Sequence[str], dialect: Dialect) -> Iterator[Trigger]:
    table, before, changed = guarded.table, dialect.row(columns), _changed(columns, dialect)
    rest = _changed([column for column in columns if column not in guarded.filled], dialect)
    yield Trigger(
        table=table,
        name="update",
        event="AFTER UPDATE",
        condition=f"{changed} <> '' AND NOT (({guarded.filling}) AND {rest} = '')",
        action=_entry(guarded, "update", "OLD", changed, before, dialect),
    )
    yield Trigger(
        table=table,
        name="delete",
        event="AFTER DELETE",
        action=_entry(guarded, "delete", "OLD", "''", before, dialect),
    )
    if guarded.kind != "race":
        race = guarded.race.format(row="NEW")
        yield Trigger(
            table=table,
            name="insert",
            event="AFTER INSERT",
            condition=f"EXISTS (SELECT 1 FROM stackrace_race WHERE id = {race} AND ending IS NOT NULL)",
            action=_entry(guarded, "insert", "NEW", "''", "NULL", dialect),
        )


def _entry(guarded: Guarded, deed: str, row: str, changed: str, before: str, dialect: Dialect) -> str:
    return (
        "INSERT INTO stackrace_history (race, kind, row_id, deed, at, who, changed, before) VALUES "
        f"({guarded.race.format(row=row)}, '{guarded.kind}', CAST({row}.id AS TEXT), '{deed}', {dialect.now}, "
        f"{dialect.who}, trim({changed}), {before});"
    )


def _changed(columns: Iterable[str], dialect: Dialect) -> str:
    """Return an expression for the names of the columns that differ, each with a blank behind it."""
    names = (
        f"CASE WHEN OLD.\"{name}\" {dialect.differs} NEW.\"{name}\" THEN '{name} ' ELSE '' END" for name in columns
    )
    return f"({' || '.join(names)})"


def _registry(guarded: Guarded) -> Iterator[Trigger]:
    """Yield what enters ids, and takes them out with all that belongs to them."""
    table, within = guarded.table, "NULL" if guarded.kind == "race" else guarded.race.format(row="NEW")
    yield Trigger(
        table=table,
        name="registered",
        event="AFTER INSERT",
        action=f"INSERT INTO stackrace_ids (id, kind, of_id) VALUES (NEW.id, '{guarded.kind}', {within});",
    )
    yield Trigger(
        table=table,
        name="struck",
        event="AFTER DELETE",
        action="DELETE FROM stackrace_ids WHERE of_id = OLD.id; DELETE FROM stackrace_ids WHERE id = OLD.id;",
    )


def _of_ids(dialect: Dialect) -> Iterator[Trigger]:
    """Yield the triggers of the registry itself."""
    table = "stackrace_ids"
    yield Trigger(table=table, name="identity", event="BEFORE UPDATE", action=dialect.refuse("an id never changes"))
    yield Trigger(
        table=table,
        name="kept",
        event="BEFORE DELETE",
        condition="EXISTS (SELECT 1 FROM stackrace_race "
        "WHERE id = CASE OLD.kind WHEN 'name' THEN OLD.of_id ELSE OLD.id END) "
        "OR EXISTS (SELECT 1 FROM stackrace_launch WHERE id = OLD.id)",
        action=dialect.refuse("an id stays as long as what it names"),
    )
    if dialect is _SQLITE:
        yield Trigger(
            table=table,
            name="unique",
            event="BEFORE INSERT",
            condition="EXISTS (SELECT 1 FROM stackrace_ids WHERE id = NEW.id "
            "OR NEW.kind = 'name' AND kind = 'name' AND of_id = NEW.of_id)",
            action=dialect.refuse("UNIQUE constraint failed: an id is given once"),
        )


def _sqlite_row(columns: Sequence[str]) -> str:
    """SQLite's JSON knows neither bytes nor all the digits of a float."""
    pairs = (
        f"'{name}', CASE typeof(OLD.\"{name}\") WHEN 'blob' THEN hex(OLD.\"{name}\") "
        f"WHEN 'real' THEN printf('%!.17g', OLD.\"{name}\") ELSE OLD.\"{name}\" END"
        for name in columns
    )
    return f"json_object({', '.join(pairs)})"


def _sqlite_refuse(why: str) -> str:
    return f"SELECT RAISE(ABORT, '{why}');"


def _sqlite_further(guarded: Guarded) -> Iterator[Trigger]:
    """Refuse INSERT OR REPLACE, which deletes without any DELETE trigger unless recursive_triggers is on."""
    same = "id = NEW.id"
    if "position" in guarded.identity:
        same += " OR race_id = NEW.race_id AND position = NEW.position"
    yield Trigger(
        table=guarded.table,
        name="unique",
        event="BEFORE INSERT",
        condition=f"EXISTS (SELECT 1 FROM {guarded.table} WHERE {same})",
        action=_sqlite_refuse("UNIQUE constraint failed: a stored row is never replaced"),
    )


def _sqlite_create(trigger: Trigger) -> Iterator[str]:
    yield (
        f"CREATE TRIGGER {trigger.table}_{trigger.name} {trigger.event} ON {trigger.table} "
        f"WHEN {trigger.condition} BEGIN {trigger.action} END"
    )


def _postgresql_row(_: Sequence[str]) -> str:
    return "row_to_json(OLD)::text"


def _postgresql_refuse(why: str) -> str:
    return f"RAISE EXCEPTION '{why}' USING ERRCODE = 'integrity_constraint_violation';"


def _postgresql_further(guarded: Guarded) -> Iterator[Trigger]:
    yield Trigger(
        table=guarded.table,
        name="truncate",
        event="BEFORE TRUNCATE",
        action=_postgresql_refuse("TRUNCATE would leave no history: use DELETE"),
    )


def _postgresql_create(trigger: Trigger) -> Iterator[str]:
    """PostgreSQL allows a query in a function only, not in the condition of a trigger."""
    name = f"{trigger.table}_{trigger.name}"
    passed = {"BEFORE UPDATE": "NEW", "BEFORE DELETE": "OLD"}.get(trigger.event, "NULL")
    each = "STATEMENT" if trigger.event.endswith("TRUNCATE") else "ROW"
    yield (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
        "SET search_path FROM CURRENT AS $$ "
        f"BEGIN IF {trigger.condition} THEN {trigger.action} END IF; RETURN {passed}; END $$"
    )
    yield f"CREATE TRIGGER {name} {trigger.event} ON {trigger.table} FOR EACH {each} EXECUTE FUNCTION {name}()"


_SQLITE = Dialect(
    differs="IS NOT",
    now="strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')",
    who=f"'{UNKNOWN}'",
    row=_sqlite_row,
    refuse=_sqlite_refuse,
    further=_sqlite_further,
    create=_sqlite_create,
)
_POSTGRESQL = Dialect(
    differs="IS DISTINCT FROM",
    now="""to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')""",
    who="concat_ws(', ', session_user, nullif(current_setting('application_name'), ''))",
    row=_postgresql_row,
    refuse=_postgresql_refuse,
    further=_postgresql_further,
    create=_postgresql_create,
)
