"""The table and its ten rows; always the same ones, so that every race fetches the same bytes."""

import random
import string

from django.db import migrations, models

ROWS = 10
LENGTH = 2_500


def fill(apps, schema_editor):
    """Insert ten strings from a seeded generator."""
    row = apps.get_model("pages", "Row")
    letters = random.Random(2007)
    row.objects.bulk_create(
        row(number=number, text="".join(letters.choices(string.ascii_lowercase + " ", k=LENGTH)))
        for number in range(1, ROWS + 1)
    )


class Migration(migrations.Migration):
    """Create and fill."""

    initial = True
    dependencies = ()
    operations = (
        migrations.CreateModel(
            name="Row",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("number", models.PositiveSmallIntegerField(unique=True)),
                ("text", models.TextField()),
            ],
            options={"ordering": ("number",)},
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    )
