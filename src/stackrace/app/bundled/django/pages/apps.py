"""The app's configuration."""

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """Pages of known sizes."""

    name = "pages"
