"""What is said of a race, for the tests of the sentences."""

from __future__ import annotations

from tests.core.race.contests import contest
from tests.core.race.raced import merged

from stackrace.race.judge.ranking import standing
from stackrace.report.words.standing_sentences import StandingWords, words_of


def words(race) -> StandingWords:
    """The sentences about a race."""
    return words_of(race, standing(race, merge=merged))


def told(entries, **options) -> StandingWords:
    """The sentences about a contest."""
    return words(contest(entries, **options))
