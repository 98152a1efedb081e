"""Workloads for some stacks only, and races that no early answer ends; rows of before have neither."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models

from stackrace.store.fields import DocumentField


class Migration(migrations.Migration):
    """Columns that may be NULL are added without a copy of the table."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0003_workloads")]

    operations: ClassVar[list[object]] = [
        migrations.AddField("racerow", "limits", DocumentField(null=True)),
        migrations.AddField("racerow", "exhaustive", models.BooleanField(null=True)),
    ]
