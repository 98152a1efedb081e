"""Decisions during a race for the winner: whether its question is answered, and which stacks need not go on."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from ...stats import selection, summary
from ...stats.values import Question
from ..results.race import Race
from ..run.resume import counted
from ..run.twins import twins_differ
from .levels import MeasuredLevel, blocks_of, compared, headline_of, judgement_of, measured_levels, pooled

_PATIENCE = 4
"""Launches after which an answer no longer waits for a stack whose slices were all rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Decision on a race's next step: stop, as its question is answered, or go on without some stacks."""

    settled: bool
    dropped: frozenset[str]
    """Paths of the stacks that need not be raced any more."""
    blocks_needed: float = math.nan
    """Blocks that the whole race is likely to need; infinite if no number would decide, NaN if unknown."""


_OPEN = Decisions(settled=False, dropped=frozenset())


def decisions(race: Race) -> Decisions:
    """Return the decision of the last planned look at the headline level; nothing is decided before the first look.

    Call this function between blocks, when every stack has raced in each block. Settled: the question is answered.
    Dropped: in a race for the winner, stacks that can no longer be the best, or not by a difference that matters.
    Exhaustive races and counted runs decide nothing. A single stack is settled when its throughput is known to
    within the difference. A machine with unequal ratios decides nothing; once it is left out, a dropped stack may
    return.
    """
    race = counted(race)
    if race.exhaustive or race.repeats is not None:
        return _OPEN
    race = pooled(race, compared(race))
    blocks = selection.last_look(len(blocks_of(race)))
    levels = measured_levels(race, blocks=blocks, pooled=True) if blocks else []
    if not levels:
        return _OPEN
    level = levels[headline_of(levels)]
    if len(_asked(race, level.workload)) == 1:
        return Decisions(settled=_known(race, level, blocks), dropped=frozenset())
    if len(level.stacks) < 2:
        # a single stack has no rival
        return _OPEN
    judgement = judgement_of(race, level, drops=True)
    # twins that differ now may agree later: a race that is void so far does not end early
    settled = judgement.winner is not None if race.question is Question.WINNER else all(judgement.settled)
    settled = settled and not twins_differ(race, blocks=blocks) and not _awaited(race, level)
    kept = {level.stacks[i] for i in judgement.left}
    bounded = judgement.behind is not None and math.isfinite(judgement.behind)
    needed = judgement.blocks_needed or (math.inf if bounded else math.nan)
    return Decisions(settled=settled, dropped=frozenset(level.stacks) - kept, blocks_needed=needed)


def _awaited(race: Race, level: MeasuredLevel) -> bool:
    """Return True if a stack that started, but has no valid slice so far, may still get one."""
    missing = set(_asked(race, level.workload)) - set(level.stacks)
    ready = Counter(launch.stack for launch in race.launches if launch.ready_s is not None)
    return any(0 < ready[stack] < _PATIENCE for stack in missing)


def _known(race: Race, level: MeasuredLevel, blocks: int) -> bool:
    own = summary.intervals(level.values)[0]
    narrow = own.high is not None and own.high / own.value <= 1 + race.difference
    return narrow and blocks >= selection.WINNER_FROM


def _asked(race: Race, workload: str) -> tuple[str, ...]:
    return tuple(race.limits.get(workload, race.stacks))
