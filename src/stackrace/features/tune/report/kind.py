"""A tuning as a kind of result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ....race.results.comparison import Comparison
from ....race.results.race import Race
from ..result import leading as leading_now
from ..result import tuned
from . import words

if TYPE_CHECKING:
    from ....report.sheet import Section

__all__ = ["compared", "document", "heading", "leading", "page", "sections"]


def sections(race: Race) -> Iterable[Section]:
    """Return the report, in order."""
    from .sheet import tuning_sheet

    return tuning_sheet(race, tuned(race))


def heading(race: Race) -> str:
    """The answer comes first."""
    return ""


def document(race: Race) -> dict[str, Any]:
    """Return the JSON document as plain values."""
    from .document import document as made

    return made(race, tuned(race))


def page(race: Race) -> str:
    """Return the self-contained page."""
    from .page import page as made

    return made(race, tuned(race))


def compared(race: Race) -> Comparison | None:
    """It has no sides."""
    return None


def leading(race: Race) -> str:
    """Return how the search stands: ``gunicorn:workers=3 leads, 5 of 36 configurations left``."""
    stands = leading_now(race)
    return "" if stands is None else words.leading(stands)
