"""What a race is to find out."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Question"]


class Question(StrEnum):
    """What the race is to find out."""

    WINNER = "winner"
    """Which stack is the best, or which cannot be told from the best."""
    RANKING = "ranking"
    """Where every stack stands."""
