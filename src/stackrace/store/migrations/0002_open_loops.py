"""What the engine tells since it plays open loops; rows of before have none of it."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models

from stackrace.store.fields import DocumentField


class Migration(migrations.Migration):
    """Columns that may be NULL are added without a copy of the table."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0001_initial")]

    operations: ClassVar[list[object]] = [
        migrations.AddField("slicerow", "service", DocumentField(null=True)),
        migrations.AddField("slicerow", "lag", DocumentField(null=True)),
        migrations.AddField("slicerow", "tls", DocumentField(null=True)),
        migrations.AddField("slicerow", "pages", DocumentField(null=True)),
        migrations.AddField("slicerow", "targets", DocumentField(null=True)),
        migrations.AddField("slicerow", "ceiling_per_s", models.FloatField(null=True)),
        migrations.AddField("slicerow", "generator_spin_s", models.FloatField(null=True)),
        migrations.AddField("slicerow", "pool_waits", models.BigIntegerField(null=True)),
        migrations.AddField("slicerow", "retried", models.BigIntegerField(null=True)),
        migrations.AddField("slicerow", "nonces_lost", models.BigIntegerField(null=True)),
        migrations.AddField("slicerow", "stale_dates", models.BigIntegerField(null=True)),
        migrations.AddField("slicerow", "cached_answers", models.BigIntegerField(null=True)),
    ]
