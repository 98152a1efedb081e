"""The command line: one file per verb. Imports everybody; nobody imports it."""

from .process import main

__all__ = ["main"]
