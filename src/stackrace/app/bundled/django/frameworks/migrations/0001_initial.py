"""World and Fortune, empty: ``manage.py seed world`` fills them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Create them."""

    initial = True
    dependencies = ()
    operations = (
        migrations.CreateModel(
            name="World",
            fields=[
                ("id", models.IntegerField(primary_key=True, serialize=False)),
                ("random_number", models.IntegerField(db_column="randomnumber")),
            ],
            options={"db_table": "world"},
        ),
        migrations.CreateModel(
            name="Fortune",
            fields=[
                ("id", models.IntegerField(primary_key=True, serialize=False)),
                ("message", models.CharField(max_length=2048)),
            ],
            options={"db_table": "fortune"},
        ),
    )
