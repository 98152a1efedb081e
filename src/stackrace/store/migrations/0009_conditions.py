"""What the machine did during a slice; earlier rows lack it."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations

from stackrace.store.fields import DocumentField
from stackrace.store.triggers import arm, disarm


class Migration(migrations.Migration):
    """A column that may be NULL is added without a copy of the table; the triggers learn of it."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0008_rules")]

    operations: ClassVar[list[object]] = [
        disarm(),
        migrations.AddField("slicerow", "conditions", DocumentField(null=True)),
        arm(),
    ]
