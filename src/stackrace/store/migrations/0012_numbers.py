"""Races are numbered in the order in which they began: a clock may be set back."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from typing import Any, ClassVar

from django.db import migrations, models

from stackrace.store.triggers import arm, disarm


def _number(apps: Any, editor: Any) -> None:
    """Number the races there are by what their clocks said, which is all that is known."""
    rows = apps.get_model("stackrace", "racerow").objects.using(editor.connection.alias)
    for number, race_id in enumerate(rows.order_by("started_at", "id").values_list("id", flat=True), 1):
        rows.filter(id=race_id).update(number=number)


class Migration(migrations.Migration):
    """A column that may be NULL is added without a copy of the table; the triggers learn of it."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0011_documents")]

    operations: ClassVar[list[object]] = [
        disarm(),
        migrations.AddField("racerow", "number", models.BigIntegerField(null=True)),
        migrations.RunPython(_number, migrations.RunPython.noop),
        arm(),
    ]
