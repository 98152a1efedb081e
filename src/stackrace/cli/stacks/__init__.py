"""``stackrace stacks``."""

from .command import command

__all__ = ["command"]
