"""Hidden twins, races that were resumed, and findings about whole launches; earlier rows have none."""

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
        arm(),
    ]
