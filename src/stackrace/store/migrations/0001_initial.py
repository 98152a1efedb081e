"""All tables of the store, and the triggers that guard them."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from typing import Any, ClassVar

from django.db import migrations, models

from stackrace.store.models import DocumentField, ExactTextField, RealField
from stackrace.store.triggers import statements


def _put_triggers_in(apps: Any, editor: Any) -> None:
    columns = {
        model._meta.db_table: [field.column for field in model._meta.concrete_fields] for model in apps.get_models()
    }
    for statement in statements(editor.connection.vendor, columns):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    """One for SQLite and PostgreSQL."""

    initial = True
    dependencies: ClassVar[list[tuple[str, str]]] = []

    operations: ClassVar[list[object]] = [
        migrations.CreateModel(
            name="RaceRow",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("started_at", ExactTextField()),
                ("app", ExactTextField()),
                ("budget_s", RealField()),
                ("elapsed_s", RealField()),
                ("ending", ExactTextField(null=True)),
                ("twin", ExactTextField()),
                ("resumed", models.BigIntegerField()),
                ("number", models.BigIntegerField()),
                ("duty", DocumentField(null=True)),
                ("checkpoint", DocumentField(null=True)),
                ("document", DocumentField()),
            ],
            options={"db_table": "stackrace_race"},
        ),
        migrations.CreateModel(
            name="StackFactsRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("race", models.ForeignKey("stackrace.racerow", models.PROTECT, related_name="facts")),
                ("document", DocumentField()),
            ],
            options={"db_table": "stackrace_stack_facts"},
        ),
        migrations.CreateModel(
            name="LaunchRow",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("race", models.ForeignKey("stackrace.racerow", models.PROTECT, related_name="launches")),
                ("position", models.IntegerField()),
                ("block", models.IntegerField()),
                ("stack", ExactTextField()),
                ("failure_kind", ExactTextField(null=True)),
                ("document", DocumentField()),
            ],
            options={
                "db_table": "stackrace_launch",
                "constraints": [
                    models.UniqueConstraint(fields=("race", "position"), name="stackrace_launch_order")
                ],
            },
        ),
        migrations.CreateModel(
            name="SliceRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("launch", models.ForeignKey("stackrace.launchrow", models.PROTECT, related_name="slices")),
                ("document", DocumentField()),
            ],
            options={"db_table": "stackrace_slice"},
        ),
        migrations.CreateModel(
            name="HistoryRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("race", models.CharField(db_index=True, max_length=32)),
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
        migrations.CreateModel(
            name="IdRow",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("kind", models.TextField()),
                ("of", models.ForeignKey("stackrace.idrow", models.DO_NOTHING, null=True, related_name="within")),
            ],
            options={
                "db_table": "stackrace_ids",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(kind="name"), fields=("of",), name="stackrace_ids_name"
                    )
                ],
            },
        ),
        migrations.RunPython(_put_triggers_in, migrations.RunPython.noop),
    ]
