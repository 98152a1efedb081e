"""Makes the tables of a new store at once, as the migrations leave them: going through all of these takes long."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from collections.abc import Iterable

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from .apps import LABEL
from .triggers import put_in

__all__ = ["create"]

_IDS = (
    "CREATE TABLE stackrace_ids (id varchar(32) NOT NULL PRIMARY KEY, kind text NOT NULL, "
    "of_id varchar(32) NULL REFERENCES stackrace_ids (id) ON DELETE CASCADE)",
    "CREATE INDEX stackrace_ids_of ON stackrace_ids (of_id)",
    "CREATE UNIQUE INDEX stackrace_ids_name ON stackrace_ids (of_id) WHERE kind = 'name'",
)
"""The registry, whose rows the database itself deletes, as no model can say."""


def create(connection: BaseDatabaseWrapper, migrations: Iterable[str]) -> None:
    """Make all tables with their triggers, and record that ``migrations`` have done it: all of it, or nothing."""
    recorder = MigrationRecorder(connection)
    recorder.ensure_schema()
    with connection.schema_editor() as editor:
        for model in apps.get_app_config(LABEL).get_models():
            if model._meta.db_table != "stackrace_ids":
                editor.create_model(model)
        for statement in _IDS:
            editor.execute(statement)
        put_in(editor)
        for name in sorted(migrations):
            recorder.record_applied(LABEL, name)
