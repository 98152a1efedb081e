"""Nothing asks any longer by which rule a race was decided: the note of it leaves the documents."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from typing import Any, ClassVar

from django.db import migrations

from stackrace.store.triggers import arm, disarm


def _drop(apps: Any, editor: Any) -> None:
    rows = apps.get_model("stackrace", "racerow").objects.using(editor.connection.alias)
    for row in rows.only("document").order_by("pk").iterator(200):
        if row.document.pop("rule", None) is not None:
            row.save(update_fields=["document"])


class Migration(migrations.Migration):
    """The triggers are out meanwhile: no race is altered."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0012_numbers")]

    operations: ClassVar[list[object]] = [disarm(), migrations.RunPython(_drop, migrations.RunPython.noop), arm()]
