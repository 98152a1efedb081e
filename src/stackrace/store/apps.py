"""Name of this package in Django; the label begins the name of every table."""

from __future__ import annotations

from django.apps import AppConfig

LABEL = "stackrace"


class StoreConfig(AppConfig):
    """Django application of this package, the only one."""

    name = "stackrace.store"
    label = LABEL
    default_auto_field = "django.db.models.BigAutoField"
