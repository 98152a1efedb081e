"""Triggers that know of races that go on: to them it is part of measuring."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations

from stackrace.store.triggers import arm, disarm


class Migration(migrations.Migration):
    """No column changes; stores that have those of the migration before get the new conditions."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0006_twins")]

    operations: ClassVar[list[object]] = [disarm(), arm()]
