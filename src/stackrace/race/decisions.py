"""What a race may decide on the way: whether its question is answered, and who need not go on; and who decides it.

Where no feature does, the winner is looked for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..extensions import Strategy, declared, load
from ..stats import selection, summary
from ..stats.values import Question
from .levels import MeasuredLevel, blocks_of, compared, headline_of, judgement_of, measured_levels, pooled
from .plan import Cell
from .results.parts import RacePart
from .results.race import Race
from .resume import counted
from .twins import twins_apart

if TYPE_CHECKING:
    from .preparation.prepared import PreparedRace

_PATIENCE = 4
"""An answer waits for a stack whose slices were all refused until it was launched so often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What a race may do next: stop, its question being answered, or go on without some."""

    settled: bool
    dropped: frozenset[str]
    """The paths of the stacks that need not be raced any more."""
    blocks_needed: float = math.nan
    """Blocks that the whole race is likely to need; infinite where no number of them would decide, NaN where
    nothing is known."""


_OPEN = Decisions(settled=False, dropped=frozenset())


def decisions(race: Race) -> Decisions:
    """Return what the last planned look decided at the headline level, nothing before the first.

    Call it between blocks, when each has been raced by all. Settled: the question is answered there. Dropped: for
    a winner, who can be the best no more, or not by anything that matters. Nothing is decided in an exhaustive
    race, or in one whose runs are counted. A stack alone is done when its own throughput is known to within the
    difference. A machine whose ratios of stacks are unequal decides nothing; once it is left out, a stack that was
    dropped may be in again.
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
        # compared with nothing
        return _OPEN
    judgement = judgement_of(race, level, drops=True)
    # twins that differ may still come together: a race that is void so far does not end early
    settled = judgement.winner is not None if race.question is Question.WINNER else all(judgement.settled)
    settled = settled and not twins_apart(race, blocks=blocks) and not _awaited(race, level)
    kept = {level.stacks[i] for i in judgement.left}
    bounded = judgement.behind is not None and math.isfinite(judgement.behind)
    needed = judgement.blocks_needed or (math.inf if bounded else math.nan)
    return Decisions(settled=settled, dropped=frozenset(level.stacks) - kept, blocks_needed=needed)


def _awaited(race: Race, level: MeasuredLevel) -> bool:
    """Tell whether a stack that was up, but had nothing believable so far, may still be measured."""
    missing = set(_asked(race, level.workload)) - set(level.stacks)
    ready = Counter(launch.stack for launch in race.launches if launch.ready_s is not None)
    return any(0 < ready[stack] < _PATIENCE for stack in missing)


def _known(race: Race, level: MeasuredLevel, blocks: int) -> bool:
    own = summary.intervals(level.values)[0]
    narrow = own.high is not None and own.high / own.value <= 1 + race.difference
    return narrow and blocks >= selection.WINNER_FROM


def _asked(race: Race, workload: str) -> tuple[str, ...]:
    return tuple(race.limits.get(workload, race.stacks))


OpenCells = Callable[[Race, Sequence[Cell]], Sequence[Cell]]
"""Returns those of the cells that are still to be raced, after the race so far; none of them ends the race."""

Decide = Callable[[Race], Decisions]
"""Says between blocks whether a race's question is answered, and who need not go on."""


class Strategist(Protocol):
    """How a race with a part of a feature's goes."""

    @property
    def verb(self) -> str:
        """What starts such a race: ``stackrace tune STACK``."""

    def fewest(self, race: Race) -> int:
        """Return how many stacks must be ready before any is launched, when ``race`` goes on."""

    def again(self, fresh: PreparedRace, race: Race) -> PreparedRace:
        """Return ``fresh`` as ``race``, which goes on, had it."""

    def outlook(self, fresh: PreparedRace) -> tuple[str, ...]:
        """Return what is to be expected of it, one sentence each."""

    def show(self, race: Race, *, html: Path | None, as_json: bool) -> None:
        """Show what came of it, on the command line; InterruptedRace or RefusedError where it is no answer."""

    def decisions(self, ready: PreparedRace) -> tuple[OpenCells, Decide]:
        """Return who chooses the cells before each block, and who says when the question is answered."""


def strategist_of(race: Race) -> Strategist | None:
    """Return who decides in ``race``; None where the winner is looked for."""
    for strategy in declared(Strategy):
        if isinstance(race.parts.held.get(strategy.part), RacePart):
            return strategist_named(strategy.part)
    return None


def strategist_named(part: str) -> Strategist:
    """Return who decides in races that have the part of this name."""
    found: Strategist = load(next(each.place for each in declared(Strategy) if each.part == part))
    return found
