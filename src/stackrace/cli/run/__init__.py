"""``stackrace run``."""

from .command import command

__all__ = ["command"]
