"""The command line: one file per verb. Imports everybody; nobody imports it."""

from .main import main

__all__ = ["main"]
