"""The marks of what was seeded."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Create the table."""

    initial = True
    dependencies = ()
    operations = (
        migrations.CreateModel(
            name="Seeded",
            fields=[("name", models.CharField(max_length=20, primary_key=True, serialize=False))],
        ),
    )
