"""Several workloads in a race, and runs on fresh launches; rows of before have neither."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models

from stackrace.store.fields import DocumentField, ExactTextField


class Migration(migrations.Migration):
    """Columns that may be NULL are added without a copy of the table."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0002_open_loops")]

    operations: ClassVar[list[object]] = [
        migrations.AddField("racerow", "workloads", DocumentField(null=True)),
        migrations.AddField("racerow", "repeats", models.BigIntegerField(null=True)),
        migrations.AddField("slicerow", "workload", ExactTextField(null=True)),
    ]
