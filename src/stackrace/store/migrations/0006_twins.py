"""Hidden twins, resumed races, findings about launches, more of what the engine saw; earlier rows lack them."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models

from stackrace.store.fields import DocumentField, ExactTextField
from stackrace.store.triggers import arm, disarm


class Migration(migrations.Migration):
    """Columns that may be NULL are added without a copy of the table; the triggers learn of them."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0005_history")]

    operations: ClassVar[list[object]] = [
        disarm(),
        migrations.AddField("racerow", "twin", ExactTextField(null=True)),
        migrations.AddField("racerow", "resumed", models.BigIntegerField(null=True)),
        migrations.AddField("launchrow", "findings", DocumentField(null=True)),
        migrations.AddField("slicerow", "surplus_bytes", models.BigIntegerField(null=True)),
        migrations.AddField("slicerow", "ports_exhausted", models.BigIntegerField(null=True)),
        migrations.AddField("slicerow", "files_exhausted", models.BigIntegerField(null=True)),
        migrations.AddField("slicerow", "arrivals_distance", models.FloatField(null=True)),
        arm(),
    ]
