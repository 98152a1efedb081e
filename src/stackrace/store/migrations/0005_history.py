"""History of every result row, and one registry of all ids; both kept by the database's own triggers."""

from __future__ import annotations

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models

from stackrace.store.fields import ExactTextField
from stackrace.store.triggers import arm


class Migration(migrations.Migration):
    """The registry is made in SQL: Django would cascade in Python, where other programs do not pass."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0004_limits")]

    operations: ClassVar[list[object]] = [
        migrations.CreateModel(
            name="HistoryRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("race", models.CharField(max_length=32, db_index=True)),
                ("kind", models.TextField()),
                ("row_id", models.TextField()),
                ("deed", models.TextField()),
                ("at", models.TextField()),
                ("who", ExactTextField()),
                ("changed", models.TextField()),
                ("before", models.TextField(null=True)),
            ],
            options={"db_table": "stackrace_history"},
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "CREATE TABLE stackrace_ids (id varchar(32) NOT NULL PRIMARY KEY, kind text NOT NULL, "
                    "of_id varchar(32) NULL REFERENCES stackrace_ids (id) ON DELETE CASCADE)",
                    "DROP TABLE stackrace_ids",
                ),
                migrations.RunSQL("CREATE INDEX stackrace_ids_of ON stackrace_ids (of_id)", ""),
                migrations.RunSQL(
                    "CREATE UNIQUE INDEX stackrace_ids_name ON stackrace_ids (of_id) WHERE kind = 'name'", ""
                ),
                migrations.RunSQL("INSERT INTO stackrace_ids (id, kind) SELECT id, 'race' FROM stackrace_race", ""),
                migrations.RunSQL(
                    "INSERT INTO stackrace_ids (id, kind, of_id) "
                    "SELECT id, 'launch', race_id FROM stackrace_launch",
                    "",
                ),
            ],
            state_operations=[
                migrations.CreateModel(
                    name="IdRow",
                    fields=[
                        ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                        ("kind", models.TextField()),
                        (
                            "of",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="within",
                                to="stackrace.idrow",
                            ),
                        ),
                    ],
                    options={"db_table": "stackrace_ids"},
                ),
            ],
        ),
        arm(),
    ]
