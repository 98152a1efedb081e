"""``stackrace doctor``."""

from .command import command

__all__ = ["command"]
