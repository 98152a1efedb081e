"""What a race is doing at a moment."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Activity"]


class Activity(StrEnum):
    """What a race is doing, for whoever shows its progress."""

    STARTING = "starting"
    CALIBRATING = "calibrating"
    """The load engine measures what it can reach by itself."""
    LAUNCHING = "launching"
    WARMING_UP = "warming up"
    MEASURING = "measuring"
    STOPPING = "stopping"
    WAITING = "waiting for quiet"
    """Other programs have the cores."""

    @property
    def must_not_be_disturbed(self) -> bool:
        """Whether drawing on a terminal would compete with what is measured."""
        return self is Activity.MEASURING
