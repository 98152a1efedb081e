"""``stackrace load``."""

from .command import command

__all__ = ["command"]
