"""A standing in sentences, for all reports alike."""

from __future__ import annotations

from dataclasses import dataclass

from ...race.notices import headline, news
from ...race.results.race import Race
from ...race.results.standing import Standing
from .answer import answer
from .conditions import condition
from .costs import costs
from .leads import leads
from .machines import machines
from .reason import reason

__all__ = ["StandingWords", "words_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingWords:
    """A standing in sentences, each empty where there is nothing to say."""

    answer: str
    """Who wins, by how much, and how sure that is."""
    leads: str = ""
    """Who leads at which load levels."""
    reason: str = ""
    """Where the CPU time goes."""
    costs: str = ""
    """What the winner needs in memory and CPU time."""
    failing: str = ""
    """Where what the project runs today fails under load."""
    current: str = ""
    """How far what the project runs today is from the best."""
    machines: str = ""
    """How equal several machines were, and which of them was left out."""
    conditions: tuple[str, ...] = ()
    """What would have to be true for the answer to change, the likeliest first."""


def words_of(race: Race, standing: Standing) -> StandingWords:
    """Return the sentences about ``standing``; of a void race only that it is void."""
    if not standing.verdict.valid:
        return StandingWords(answer=answer(race, standing))
    return StandingWords(
        answer=answer(race, standing),
        leads=leads(standing.leads, race),
        reason=reason(standing.reason),
        costs=costs(standing.costs),
        failing=news(standing.current),
        current=headline(standing.current),
        machines=machines(standing.machines),
        conditions=tuple(condition(change) for change in standing.conditions),
    )
