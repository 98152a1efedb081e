"""``stackrace compare``."""

from .command import command

__all__ = ["command"]
