"""What the project runs today, as sentences at the fixed places of a report."""

from __future__ import annotations

from collections.abc import Sequence

from ...race.levels import JudgedLevel
from ...race.results.notice import StandingNotice
from ...race.results.race import Race
from ...race.results.standing import Withdrawal
from . import words
from .result import CurrentStanding

__all__ = ["before", "details", "headline", "news", "notice_of", "shortly"]

before = words.found
shortly = words.shortly
details = words.taken_over


def notice_of(race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]) -> StandingNotice | None:
    """Return how what the project runs today stands against the stack that the answer names."""
    # with the statistics
    from .standing import current_standing

    return current_standing(race, headline, withdrawals)


def news(notice: StandingNotice | None) -> str:
    """Say that it fails."""
    return words.failing(notice if isinstance(notice, CurrentStanding) else None)


def headline(notice: StandingNotice | None) -> str:
    """Say how far it is from the best."""
    return words.current(notice if isinstance(notice, CurrentStanding) else None)
