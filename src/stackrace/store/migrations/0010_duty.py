"""Where a race's time went; earlier rows do not tell."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations

from stackrace.store.fields import DocumentField
from stackrace.store.triggers import arm, disarm


class Migration(migrations.Migration):
    """A column that may be NULL is added without a copy of the table; the triggers learn of it."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0009_conditions")]

    operations: ClassVar[list[object]] = [
        disarm(),
        migrations.AddField("racerow", "duty", DocumentField(null=True)),
        arm(),
    ]
