"""What features say of a race and its standing, at fixed places of a report; nothing where none is here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ..extensions import Notice, declared, load
from .results.standing import StandingNotice

if TYPE_CHECKING:
    from .levels import JudgedLevel
    from .results.race import Race
    from .results.standing import Withdrawal


class Notices(Protocol):
    """What a feature says; every sentence is empty where there is nothing to say."""

    def notice_of(
        self, race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]
    ) -> StandingNotice | None:
        """Return what it makes of the headline level; None where it knows nothing."""

    def news(self, notice: StandingNotice | None) -> str:
        """Say what comes before the answer."""

    def headline(self, notice: StandingNotice | None) -> str:
        """Say what stands below the answer."""

    def before(self, race: Race) -> str:
        """Say what is to be known before the race."""

    def shortly(self, race: Race) -> str:
        """Say what is to be known of what was raced, on one screen."""

    def details(self, race: Race) -> tuple[str, ...]:
        """Return all that is to be known of it."""


def _sources() -> list[Notices]:
    return [load(notice.place) for notice in declared(Notice)]


def _said(say: Callable[[Notices], str]) -> str:
    return " ".join(filter(None, map(say, _sources())))


def notice_of(race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]) -> StandingNotice | None:
    """Return what the first feature that knows something makes of the headline level."""
    made = (source.notice_of(race, headline, withdrawals) for source in _sources())
    return next((notice for notice in made if notice is not None), None)


def news(notice: StandingNotice | None) -> str:
    """Return what comes before the answer."""
    return _said(lambda source: source.news(notice))


def headline(notice: StandingNotice | None) -> str:
    """Return what stands below the answer."""
    return _said(lambda source: source.headline(notice))


def before(race: Race) -> str:
    """Return what is to be known before the race."""
    return _said(lambda source: source.before(race))


def shortly(race: Race) -> str:
    """Return what is to be known of what was raced, on one screen."""
    return _said(lambda source: source.shortly(race))


def details(race: Race) -> tuple[str, ...]:
    """Return all that is to be known of what was raced."""
    return tuple(text for source in _sources() for text in source.details(race))


def notice_types() -> tuple[type[StandingNotice], ...]:
    """Return the types of what may stand in a document as ``current``."""
    return tuple(load(notice.kind) for notice in declared(Notice))
