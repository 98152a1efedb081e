"""The shelf: 240 books that nobody wrote, the same ones on every machine."""

from itertools import product

from django.db import migrations

AUTHORS = ["A. Harbour", "B. Lantern", "C. Meadow", "D. Orchard", "E. Quill", "F. Thistle"]
SUBJECTS = ["Bridges", "Clocks", "Kites", "Lighthouses", "Maps", "Moths", "Rivers", "Tramways"]
FORMS = ["A History of", "Letters on", "Notes on", "The Book of", "Walks among"]


def stock(apps, schema_editor):
    """Put every form of every subject by every author on the shelf."""
    author_model = apps.get_model("catalogue", "Author")
    book_model = apps.get_model("catalogue", "Book")
    authors = author_model.objects.bulk_create(author_model(name=name) for name in AUTHORS)
    combinations = product(FORMS, SUBJECTS, authors)
    book_model.objects.bulk_create(
        book_model(
            title=f"{form} {subject}",
            author=author,
            year=1850 + number * 37 % 150,
            price=350 + number * 61 % 2000,
        )
        for number, (form, subject, author) in enumerate(combinations)
    )


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0001_initial")]
    operations = [migrations.RunPython(stock, migrations.RunPython.noop)]
