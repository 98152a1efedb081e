"""A standing in words: the answer and everything that is said beside it, for all reports alike.

Every sentence is computed from the launches; none is kept. Where a race is void only that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...model.standing import Standing, Withdrawal
from ..void import void
from .answer import answer, nothing
from .conditions import conditions
from .costs import costs
from .hops import reason
from .levels import levels_told
from .phrases import clients, sentence
from .told import Told

__all__ = ["Told", "worded"]


def worded(standing: Standing, levels: Sequence[Told], missing: Sequence[Withdrawal]) -> Standing:
    """Return ``standing`` with its sentences.

    ``levels`` are its levels as judged, in the same order; ``missing`` the withdrawn stacks that the answer speaks
    of.
    """
    if not standing.verdict.valid:
        return replace(standing, answer=void(standing.verdict))
    if not levels:
        return replace(standing, answer=nothing(missing))
    at, told = standing.headline, levels[standing.headline]
    return replace(
        standing,
        answer=sentence(_where(levels, at) + answer(standing.result, told, missing), told.race.stacks),
        reason=reason(told.rows),
        levels_told=levels_told(levels),
        costs=costs(told),
        conditions=conditions(levels, at),
    )


def _where(levels: Sequence[Told], at: int) -> str:
    """Say which level the answer speaks of, as far as there are others: ``on static, at 100 connections, ``."""
    level = levels[at].level
    several = len({told.level.load.label for told in levels}) > 1
    on = f"on {level.workload}, " if level.workload else ""
    return on + (f"at {clients(level.load)}, " if several else "")
