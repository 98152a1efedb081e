"""Sentences of features about a race and its standing, at fixed places of a report; none without such a feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ...extensions import Notice, declared, load
from ..results.standing import StandingNotice

if TYPE_CHECKING:
    from ..results.race import Race
    from ..results.standing import Withdrawal
    from .levels import JudgedLevel


class Notices(Protocol):
    """Sentences of a feature; each is empty if there is nothing to say."""

    def notice_of(
        self, race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]
    ) -> StandingNotice | None:
        """Return the feature's notice about the headline level; None if it has nothing to say."""

    def news(self, notice: StandingNotice | None) -> str:
        """Return the sentences before the answer."""

    def headline(self, notice: StandingNotice | None) -> str:
        """Return the sentences below the answer."""

    def before(self, race: Race) -> str:
        """Return the sentences to read before the race."""

    def shortly(self, race: Race) -> str:
        """Return the sentences about the raced stacks that fit on one screen."""

    def details(self, race: Race) -> tuple[str, ...]:
        """Return all sentences about the raced stacks."""


def _sources() -> list[Notices]:
    return [load(notice.import_path) for notice in declared(Notice)]


def _said(say: Callable[[Notices], str]) -> str:
    return " ".join(filter(None, map(say, _sources())))


def notice_of(race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]) -> StandingNotice | None:
    """Return the first feature's notice about the headline level; None if no feature has one."""
    made = (source.notice_of(race, headline, withdrawals) for source in _sources())
    return next((notice for notice in made if notice is not None), None)


def news(notice: StandingNotice | None) -> str:
    """Return the sentences before the answer."""
    return _said(lambda source: source.news(notice))


def headline(notice: StandingNotice | None) -> str:
    """Return the sentences below the answer."""
    return _said(lambda source: source.headline(notice))


def before(race: Race) -> str:
    """Return the sentences to read before the race."""
    return _said(lambda source: source.before(race))


def shortly(race: Race) -> str:
    """Return the sentences about the raced stacks that fit on one screen."""
    return _said(lambda source: source.shortly(race))


def details(race: Race) -> tuple[str, ...]:
    """Return all sentences about the raced stacks."""
    return tuple(text for source in _sources() for text in source.details(race))


def notice_types() -> tuple[type[StandingNotice], ...]:
    """Return the types that a document may show as ``current``."""
    return tuple(load(notice.kind) for notice in declared(Notice))
