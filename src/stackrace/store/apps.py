"""Names this room to Django; the label begins the name of every table."""

from __future__ import annotations

from django.apps import AppConfig

LABEL = "stackrace"


class StoreConfig(AppConfig):
    """The one Django application of this room."""

    name = "stackrace.store"
    label = LABEL
    default_auto_field = "django.db.models.BigAutoField"
