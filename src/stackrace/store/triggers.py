"""Triggers that keep history and ids. They are in the database itself, so that no program can bypass them.

Each is described once. The dialects hold what SQLite and PostgreSQL write differently.

In SQLite they use nothing that another program's connection lacks, so a change made with the ``sqlite3`` shell is
recorded, too. In PostgreSQL each function runs with its owner's rights and search path: a user who may change a
result adds to the history without any right on the history itself, and ``session_user`` remains the user who
logged in.

Source: SQLite, "CREATE TRIGGER"; "JSON Functions And Operators". PostgreSQL, "Trigger Functions";
"CREATE FUNCTION", "Writing SECURITY DEFINER Functions Safely".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guarded:
    """Table whose rows are guarded, and the columns that may still change."""

    table: str
    kind: str
    """Kind of the table's rows in history."""
    identity: tuple[str, ...]
    """Columns that never change: they identify a row and the row that it belongs to."""
    race: str = "{row}.race_id"
    """SQL expression for the race that the row belongs to, with ``{row}`` for the row."""
    filled: tuple[str, ...] = ()
    """Columns that are written again while a race is measured: at the end of a launch, a block, or the race."""
    filling: str = "FALSE"
    """Condition on OLD and NEW, never NULL, under which only ``filled`` may change without an entry in history:
    they were not written so far, or an interrupted race continues."""
    registered: bool = False
    """True if the rows' ids are in the registry."""
    unique: tuple[str, ...] = ()
    """Conditions on NEW, beside that of the id, under which a row would take the place of another."""


_GUARDED = (
    _Guarded(
        table="stackrace_race",
        kind="race",
        identity=("id",),
        race="{row}.id",
        filled=("ending", "elapsed_s", "resumed", "budget_s", "twin", "duty", "checkpoint"),
        # continuations are counted, so that they show
        filling="OLD.ending IS NULL OR OLD.ending = 'interrupted' AND NEW.ending IS NULL "
        "AND NEW.resumed = OLD.resumed + 1",
        registered=True,
    ),
    _Guarded(table="stackrace_stack_facts", kind="facts", identity=("id", "race_id")),
    _Guarded(
        table="stackrace_launch",
        kind="launch",
        identity=("id", "race_id", "position"),
        filled=("failure_kind", "document"),
        # or a launch of the block that was cut; its message keeps its earlier state
        filling="OLD.document = '{}' AND OLD.failure_kind IS NULL AND EXISTS "
        "(SELECT 1 FROM stackrace_race WHERE id = OLD.race_id AND ending IS NULL) "
        "OR COALESCE(NEW.failure_kind, '') = 'interrupted' AND COALESCE(OLD.failure_kind, '') <> 'interrupted' "
        "AND EXISTS (SELECT 1 FROM stackrace_race WHERE id = OLD.race_id AND ending IS NULL AND resumed > 0)",
        registered=True,
        unique=("race_id = NEW.race_id AND position = NEW.position",),
    ),
    _Guarded(
        table="stackrace_slice",
        kind="slice",
        identity=("id", "launch_id"),
        # history still knows the race of a launch that was deleted first
        race="COALESCE((SELECT race_id FROM stackrace_launch WHERE id = {row}.launch_id), "
        "(SELECT MAX(race) FROM stackrace_history WHERE kind = 'launch' AND row_id = {row}.launch_id), '')",
    ),
)

_IDS = _Guarded(
    table="stackrace_ids",
    kind="id",
    identity=("id", "kind", "of_id"),
    unique=("NEW.kind = 'name' AND kind = 'name' AND of_id = NEW.of_id",),
)
"""Registry, which has no history."""


@dataclass(frozen=True, slots=True)
class _Trigger:
    table: str
    name: str
    """Name, unique within the table."""
    event: str
    """Event as SQL has it: ``AFTER UPDATE``."""
    action: str
    """Statements, each with its semicolon."""
    condition: str = "TRUE"


class _Sqlite:
    """Dialect of SQLite, which has no users. ``now`` (UTC in ISO 8601) and ``who``, the author, are expressions."""

    differs = "IS NOT"
    """Operator between two values that may both be NULL."""
    now = "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')"
    who = "'unknown'"
    """Author of changes by other programs; our own connections sign, see ``database``."""

    def row(self, columns: Sequence[str]) -> str:
        """Return an expression for the OLD row as JSON, which has neither bytes nor all the digits of a float."""
        pairs = (
            f"'{name}', CASE typeof(OLD.\"{name}\") WHEN 'blob' THEN hex(OLD.\"{name}\") "
            f"WHEN 'real' THEN printf('%!.17g', OLD.\"{name}\") ELSE OLD.\"{name}\" END"
            for name in columns
        )
        return f"json_object({', '.join(pairs)})"

    def refuse(self, why: str) -> str:
        """Return a statement that refuses the event."""
        return f"SELECT RAISE(ABORT, '{why}');"

    def extra_trigger(self, guarded: _Guarded) -> _Trigger:
        """Return the trigger that refuses INSERT OR REPLACE: it deletes without a DELETE trigger by default."""
        exists = " OR ".join(
            f"EXISTS (SELECT 1 FROM {guarded.table} WHERE {same})" for same in ("id = NEW.id", *guarded.unique)
        )
        refusal = self.refuse("UNIQUE constraint failed: a stored row is never replaced")
        return _Trigger(guarded.table, "unique", "BEFORE INSERT", refusal, exists)

    def create(self, trigger: _Trigger) -> Iterator[str]:
        """Yield the statements that create ``trigger``."""
        yield (
            f"CREATE TRIGGER {trigger.table}_{trigger.name} {trigger.event} ON {trigger.table} "
            f"WHEN {trigger.condition} BEGIN {trigger.action} END"
        )


class _Postgresql:
    """Dialect of PostgreSQL, with the same members as ``_Sqlite``.

    Queries are allowed in a function only, not in the condition of a trigger.
    """

    differs = "IS DISTINCT FROM"
    now = """to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')"""
    who = "concat_ws(', ', session_user, nullif(current_setting('application_name'), ''))"

    def row(self, columns: Sequence[str]) -> str:
        return "row_to_json(OLD)::text"

    def refuse(self, why: str) -> str:
        return f"RAISE EXCEPTION '{why}' USING ERRCODE = 'integrity_constraint_violation';"

    def extra_trigger(self, guarded: _Guarded) -> _Trigger:
        refusal = self.refuse("TRUNCATE would leave no history: use DELETE")
        return _Trigger(guarded.table, "truncate", "BEFORE TRUNCATE", refusal)

    def create(self, trigger: _Trigger) -> Iterator[str]:
        name = f"{trigger.table}_{trigger.name}"
        passed = {"BEFORE UPDATE": "NEW", "BEFORE DELETE": "OLD"}.get(trigger.event, "NULL")
        each = "STATEMENT" if trigger.event.endswith("TRUNCATE") else "ROW"
        yield (
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
            "SET search_path FROM CURRENT AS $$ "
            f"BEGIN IF {trigger.condition} THEN {trigger.action} END IF; RETURN {passed}; END $$"
        )
        yield f"CREATE TRIGGER {name} {trigger.event} ON {trigger.table} FOR EACH {each} EXECUTE FUNCTION {name}()"


_Dialect = _Sqlite | _Postgresql
"""Differences between the databases' languages."""


def statements(vendor: str, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the statements that create all triggers in a ``vendor``'s database, for the ``columns`` by table."""
    dialect = _Postgresql() if vendor == "postgresql" else _Sqlite()
    for guarded in _GUARDED:
        for trigger in _triggers(guarded, columns[guarded.table], dialect):
            yield from dialect.create(trigger)
    for trigger in _id_triggers(dialect):
        yield from dialect.create(trigger)


def _triggers(guarded: _Guarded, columns: Sequence[str], dialect: _Dialect) -> Iterator[_Trigger]:
    yield from _identity(guarded, dialect)
    yield from _history(guarded, columns, dialect)
    if guarded.registered:
        yield from _registry(guarded)


def _identity(guarded: _Guarded, dialect: _Dialect) -> Iterator[_Trigger]:
    """Yield the triggers that refuse to turn a row into another."""
    changed = " OR ".join(f"OLD.{column} {dialect.differs} NEW.{column}" for column in guarded.identity)
    refusal = dialect.refuse("an id never changes, nor where a row belongs")
    yield _Trigger(guarded.table, "identity", "BEFORE UPDATE", refusal, changed)
    yield dialect.extra_trigger(guarded)


def _history(guarded: _Guarded, columns: Sequence[str], dialect: _Dialect) -> Iterator[_Trigger]:
    before, changed = dialect.row(columns), _changed(columns, dialect)
    rest = _changed([column for column in columns if column not in guarded.filled], dialect)
    entry = _history_entry(guarded, "update", "OLD", changed, before, dialect)
    altered = f"{changed} <> '' AND NOT (({guarded.filling}) AND {rest} = '')"
    yield _Trigger(guarded.table, "update", "AFTER UPDATE", entry, altered)
    entry = _history_entry(guarded, "delete", "OLD", "''", before, dialect)
    yield _Trigger(guarded.table, "delete", "AFTER DELETE", entry)
    if guarded.kind != "race":
        race = guarded.race.format(row="NEW")
        entry = _history_entry(guarded, "insert", "NEW", "''", "NULL", dialect)
        ended = f"EXISTS (SELECT 1 FROM stackrace_race WHERE id = {race} AND ending IS NOT NULL)"
        yield _Trigger(guarded.table, "insert", "AFTER INSERT", entry, ended)


def _history_entry(guarded: _Guarded, deed: str, row: str, changed: str, before: str, dialect: _Dialect) -> str:
    return (
        "INSERT INTO stackrace_history (race, kind, row_id, deed, at, who, changed, before) VALUES "
        f"({guarded.race.format(row=row)}, '{guarded.kind}', CAST({row}.id AS TEXT), '{deed}', {dialect.now}, "
        f"{dialect.who}, trim({changed}), {before});"
    )


def _changed(columns: Iterable[str], dialect: _Dialect) -> str:
    """Return an expression for the names of the columns that differ, each followed by a blank."""
    names = (
        f"CASE WHEN OLD.\"{name}\" {dialect.differs} NEW.\"{name}\" THEN '{name} ' ELSE '' END" for name in columns
    )
    return f"({' || '.join(names)})"


def _registry(guarded: _Guarded) -> Iterator[_Trigger]:
    """Yield the triggers that enter ids, and remove them with all that belongs to them."""
    within = "NULL" if guarded.kind == "race" else guarded.race.format(row="NEW")
    enter = f"INSERT INTO stackrace_ids (id, kind, of_id) VALUES (NEW.id, '{guarded.kind}', {within});"
    yield _Trigger(guarded.table, "registered", "AFTER INSERT", enter)
    strike = "DELETE FROM stackrace_ids WHERE of_id = OLD.id; DELETE FROM stackrace_ids WHERE id = OLD.id;"
    yield _Trigger(guarded.table, "struck", "AFTER DELETE", strike)


def _id_triggers(dialect: _Dialect) -> Iterator[_Trigger]:
    yield from _identity(_IDS, dialect)
    in_use = (
        "EXISTS (SELECT 1 FROM stackrace_race WHERE id = CASE OLD.kind WHEN 'name' THEN OLD.of_id ELSE OLD.id END) "
        "OR EXISTS (SELECT 1 FROM stackrace_launch WHERE id = OLD.id)"
    )
    refusal = dialect.refuse("an id stays as long as what it names")
    yield _Trigger(_IDS.table, "kept", "BEFORE DELETE", refusal, in_use)
