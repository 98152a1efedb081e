"""``stackrace capacity``."""

from .command import command

__all__ = ["command"]
