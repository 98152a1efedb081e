"""The app's configuration."""

from django.apps import AppConfig


class FrameworksConfig(AppConfig):
    """Two tables and six pages."""

    name = "frameworks"
