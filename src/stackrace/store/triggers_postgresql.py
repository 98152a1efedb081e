"""The triggers in PostgreSQL's language.

Each function runs with its owner's rights and search path, so that whoever may change a result leaves history
without having any right on the history itself; ``session_user`` stays the one who logged in.
Source: PostgreSQL, "Trigger Functions"; "CREATE FUNCTION", "Writing SECURITY DEFINER Functions Safely".
"""

from __future__ import annotations

from collections.abc import Iterator

from .guarded import GUARDED, Guarded

__all__ = ["create", "drop"]

_FUNCTIONS = ("record", "identity", "registry", "ids", "truncate")
_HEAD = (
    "CREATE FUNCTION stackrace_guard_{name}() RETURNS trigger LANGUAGE plpgsql "
    "SECURITY DEFINER SET search_path FROM CURRENT AS $$ {body} $$"
)
_REFUSE = "RAISE EXCEPTION '{why}' USING ERRCODE = 'integrity_constraint_violation';"


def create() -> Iterator[str]:
    """Yield the statements; they fit whatever columns the tables have."""
    yield _function("record", _record())
    yield _function("identity", _IDENTITY)
    yield _function("registry", _REGISTRY)
    yield _function("ids", _IDS)
    yield _function("truncate", _TRUNCATE)
    for guarded in GUARDED:
        yield from _triggers(guarded)
    yield _trigger("stackrace_ids", "kept", "BEFORE UPDATE OR DELETE", "ids")


def drop() -> Iterator[str]:
    """Yield the statements that take functions and triggers out."""
    for name in _FUNCTIONS:
        yield f"DROP FUNCTION IF EXISTS stackrace_guard_{name}() CASCADE"


def _triggers(guarded: Guarded) -> Iterator[str]:
    table = guarded.table
    yield _trigger(table, "identity", "BEFORE UPDATE", "identity", *guarded.identity)
    yield _trigger(table, "record", "AFTER INSERT OR UPDATE OR DELETE", "record", guarded.kind, *guarded.filled)
    if guarded.registered:
        yield _trigger(table, "registry", "AFTER INSERT OR DELETE", "registry", guarded.kind)
    yield (
        f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION stackrace_guard_truncate()"
    )


def _trigger(table: str, name: str, when: str, function: str, *arguments: str) -> str:
    quoted = ", ".join(f"'{argument}'" for argument in arguments)
    return (
        f"CREATE TRIGGER {table}_{name} {when} ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION stackrace_guard_{function}({quoted})"
    )


def _function(name: str, body: str) -> str:
    return _HEAD.format(name=name, body=body)


def _record() -> str:
    """Return the body that writes history; its arguments are the kind and the columns filled while measuring."""
    branches = " ".join(
        f"{'IF' if number == 0 else 'ELSIF'} TG_ARGV[0] = '{guarded.kind}' THEN {_particulars(guarded)}"
        for number, guarded in enumerate(GUARDED)
    )
    return f"""
DECLARE
  differing text[]; of_race text; untouched boolean := false; ended boolean;
BEGIN
  IF TG_OP = 'INSERT' THEN OLD := NEW; END IF;
  {branches} END IF;
  IF TG_OP = 'INSERT' THEN
    SELECT TG_ARGV[0] <> 'race' AND EXISTS
      (SELECT 1 FROM stackrace_race r WHERE r.id = of_race AND r.ending IS NOT NULL) INTO ended;
    IF NOT ended THEN RETURN NULL; END IF;
  ELSIF TG_OP = 'UPDATE' THEN
    SELECT array_agg(o.key) INTO differing FROM json_each_text(row_to_json(OLD)) o
      JOIN json_each_text(row_to_json(NEW)) n ON o.key = n.key WHERE o.value IS DISTINCT FROM n.value;
    IF differing IS NULL OR (untouched AND differing <@ TG_ARGV[1:]) THEN RETURN NULL; END IF;
  END IF;
  INSERT INTO stackrace_history (race, kind, row_id, deed, at, who, changed, before) VALUES (
    of_race, TG_ARGV[0], OLD.id::text, lower(TG_OP),
    to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"'),
    concat_ws(', ', session_user, nullif(current_setting('application_name'), '')),
    coalesce(array_to_string(differing, ' '), ''),
    CASE TG_OP WHEN 'INSERT' THEN NULL ELSE row_to_json(OLD)::text END);
  RETURN NULL;
END"""


def _particulars(guarded: Guarded) -> str:
    if not guarded.filled:
        return f"of_race := {guarded.race_of('OLD')};"
    # of a row that is deleted there is no NEW
    untouched = f"({guarded.untouched.format(row='OLD')}) OR ({guarded.going_on})"
    return f"of_race := {guarded.race_of('OLD')}; IF TG_OP = 'UPDATE' THEN untouched := {untouched}; END IF;"


_IDENTITY = f"""
DECLARE
  kept text;
BEGIN
  FOREACH kept IN ARRAY TG_ARGV LOOP
    IF row_to_json(OLD) ->> kept IS DISTINCT FROM row_to_json(NEW) ->> kept THEN
      {_REFUSE.format(why="an id never changes, nor where a row belongs")}
    END IF;
  END LOOP;
  RETURN NEW;
END"""

_REGISTRY = """
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM stackrace_ids WHERE id = OLD.id;
  ELSIF TG_ARGV[0] = 'race' THEN
    INSERT INTO stackrace_ids (id, kind, of_id) VALUES (NEW.id, 'race', NULL);
  ELSE
    INSERT INTO stackrace_ids (id, kind, of_id) VALUES (NEW.id, TG_ARGV[0], NEW.race_id);
  END IF;
  RETURN NULL;
END"""

_IDS = f"""
BEGIN
  IF TG_OP = 'UPDATE' THEN
    {_REFUSE.format(why="an id never changes")}
  END IF;
  IF EXISTS (SELECT 1 FROM stackrace_race WHERE id = CASE OLD.kind WHEN 'name' THEN OLD.of_id ELSE OLD.id END)
    OR EXISTS (SELECT 1 FROM stackrace_launch WHERE id = OLD.id) THEN
    {_REFUSE.format(why="an id stays as long as what it names")}
  END IF;
  RETURN OLD;
END"""

_TRUNCATE = f"""
BEGIN
  {_REFUSE.format(why="TRUNCATE would leave no history: use DELETE")}
END"""
