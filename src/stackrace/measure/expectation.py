"""What a right answer is where the user says so, and not the app's own answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["EVERY_PATH", "Likeness", "RightAnswer", "RightAnswers"]

EVERY_PATH = "*"
"""Stands in place of a path for all that have no rule of their own."""


class Likeness(StrEnum):
    """What of the app's own answer must come again; the status always must."""

    STATUS = "status"
    LENGTH = "length"
    EXACT = "exact"
    """Every byte of the body."""
    CONTAINS = "contains"
    """A text, wherever it stands in the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswer:
    """One rule."""

    likeness: Likeness
    """How alike an answer must be."""
    text: str = ""
    """What a body must contain."""


RightAnswers = Mapping[str, RightAnswer]
"""Rules by path; ``EVERY_PATH`` for all other paths. Without any rule the app's own answers decide."""
