"""A stored race in one line, for lists."""

from __future__ import annotations

from dataclasses import dataclass

from ..race.results.race import Ending

__all__ = ["Summary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Enough of a race to recognise it."""

    id: str
    started_at: str
    app: str
    stacks: int
    """How many."""
    ending: Ending | None
    """None: it runs, or was killed."""
    project: str = ""
    """Its ``Source.project``; empty where nobody noted it."""
