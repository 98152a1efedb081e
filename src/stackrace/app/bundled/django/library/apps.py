"""The app's configuration."""

from django.apps import AppConfig


class LibraryConfig(AppConfig):
    """Publishers, their books and the books' loans."""

    name = "library"
