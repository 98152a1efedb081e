"""The app's configuration."""

from django.apps import AppConfig


class SeedingConfig(AppConfig):
    """The command ``manage.py seed NAME…``, and a mark for each that was."""

    name = "seeding"
