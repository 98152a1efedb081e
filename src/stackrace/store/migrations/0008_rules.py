"""By which rule a race is decided; earlier rows lack it, and were decided by that of all pairs."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations

from stackrace.store.fields import ExactTextField
from stackrace.store.triggers import arm, disarm


class Migration(migrations.Migration):
    """A column that may be NULL is added without a copy of the table; the triggers learn of it."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0007_going_on")]

    operations: ClassVar[list[object]] = [
        disarm(),
        migrations.AddField("racerow", "rule", ExactTextField(null=True)),
        arm(),
    ]
