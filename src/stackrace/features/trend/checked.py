"""What a stored check adds to a trend."""

from __future__ import annotations

from ...race.results.race import Race
from ...stacks.stack import without_side
from ..regression.answer import gate_answer
from ..regression.model import Contender, GateFacts
from .model import TrendCheck

__all__ = ["check_of"]


def check_of(race: Race, facts: GateFacts) -> TrendCheck:
    """Return what ``race``, a check of ``facts``, said."""
    answer = gate_answer(race)
    return TrendCheck(
        race=race.id,
        started_at=race.started_at,
        base=_named(facts.base),
        head=_named(facts.head),
        stack=facts.head.stack or without_side(race.stacks[-1]),
        outcome=answer.outcome,
        rulings=answer.rulings,
    )


def _named(side: Contender) -> str:
    if not side.revision:
        return side.label
    commit = side.revision[:7] + "+" * bool(side.changed)
    return side.label if commit in side.label else f"{side.label} {commit}"
