"""The library's tables, empty: ``manage.py seed browse`` fills them."""

from django.db import migrations, models
from django.db.models.deletion import CASCADE


def _id():
    return ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"))


class Migration(migrations.Migration):
    """Create them."""

    initial = True
    dependencies = ()
    operations = (
        migrations.CreateModel(
            name="Publisher",
            fields=[
                _id(),
                ("name", models.CharField(max_length=60)),
                ("town", models.CharField(max_length=30)),
                ("founded", models.PositiveSmallIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Book",
            fields=[
                _id(),
                (
                    "publisher",
                    models.ForeignKey(
                        db_index=False, on_delete=CASCADE, related_name="books", to="library.publisher"
                    ),
                ),
                ("title", models.CharField(max_length=100)),
                ("subject", models.CharField(max_length=20)),
                ("year", models.PositiveSmallIntegerField()),
                ("sheets", models.PositiveSmallIntegerField(help_text="Printed pages")),
            ],
            options={"indexes": [models.Index(fields=["publisher", "-id"], name="book_of_publisher")]},
        ),
        migrations.CreateModel(
            name="Loan",
            fields=[
                _id(),
                (
                    "book",
                    models.ForeignKey(db_index=False, on_delete=CASCADE, related_name="loans", to="library.book"),
                ),
                ("branch", models.CharField(max_length=20)),
                ("taken", models.DateField()),
                ("returned", models.DateField(null=True)),
                (
                    "stars",
                    models.PositiveSmallIntegerField(help_text="1 to 5, from readers who gave any", null=True),
                ),
            ],
            options={"indexes": [models.Index(fields=["book", "-id"], name="loan_of_book")]},
        ),
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("table", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("total", models.PositiveIntegerField()),
            ],
        ),
    )
