"""Ctrl-C, SIGTERM and a closed terminal at random moments of each verb."""

from .tries import interrupt_often

__all__ = ["interrupt_often"]
