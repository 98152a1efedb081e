"""How what the project runs today stands against the stack that the answer names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..model.current_standing import CurrentKind, CurrentStanding
from ..model.interval import Interval
from ..model.race import Race
from ..model.standing import Withdrawal
from .costs import cpu_ms, memory
from .judged_level import JudgedLevel

__all__ = ["current_standing"]


def current_standing(
    race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]
) -> CurrentStanding | None:
    """Return how the stack that is run today compares at the headline level; None where none is known.

    It keeps its place and its limits when the race went on without it.
    """
    standing = _standing(race, headline, withdrawals)
    is_partial = race.deployment is not None and race.deployment.is_partial
    return None if standing is None else replace(standing, is_partial=is_partial)


def _standing(
    race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]
) -> CurrentStanding | None:
    place = "" if race.deployment is None else race.deployment.place
    if not race.current:
        if race.deployment is None:
            return None
        return CurrentStanding(
            kind=CurrentKind.NOT_RACED,
            stack=race.deployment.stack,
            place=place,
            problem=race.deployment.problem,
        )
    if headline is None or race.current not in headline.stacks:
        failure = next((each.failure for each in withdrawals if each.stack == race.current), None)
        return CurrentStanding(kind=CurrentKind.UNMEASURED, stack=race.current, place=place, failure=failure)
    own, first = headline.stacks.index(race.current), headline.first
    if own == first:
        return CurrentStanding(kind=CurrentKind.FIRST, stack=race.current, place=place, first=race.current)
    rows = headline.row(own), headline.row(first)
    return CurrentStanding(
        kind=CurrentKind.BEHIND if headline.judgement.better(first, own) else CurrentKind.OPEN,
        stack=race.current,
        place=place,
        first=headline.stacks[first],
        throughput=_ratio(headline, own, first),
        memory=_share(memory(rows[0]), memory(rows[1])),
        cpu=_share(cpu_ms(rows[0]), cpu_ms(rows[1])),
    )


def _ratio(headline: JudgedLevel, own: int, first: int) -> Interval:
    ratio = headline.judgement.ratio(own, first)
    if math.isfinite(ratio.value):
        return ratio
    # they never met in a block
    values = [headline.row(index).throughput_per_s.value for index in (own, first)]
    return Interval(value=values[0] / values[1])


def _share(own: float, other: float) -> float | None:
    return own / other if own > 0 and other > 0 else None
