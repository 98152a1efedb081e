"""A race that tunes: who races in the next block, by what was measured so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...measure.launch import Launch
from ...race.decisions import Decisions
from ...race.levels import blocks_of, headline_of, measured_levels
from ...race.plan import Cell
from ...race.results.race import Race
from ...race.resume import counted
from ...validity.generator import overload
from .model import GoalKind, Infeasible, Knob, Needs, Tuning, Unfit, tuning_of
from .responses import believed_for, memory_bytes, response_of, slices_of
from .stats.grid import Grid, grid_of
from .stats.proposing import proposer
from .stats.rounds import next_round

__all__ = ["Tuner", "by_stack", "grid_of_race", "needs_of", "places_of", "steps_of", "unfit"]

_OVERLOADS = 2
"""A rate that a configuration missed in so many launches it does not deliver."""
_FAILURES = 2
"""So many launches without anything to believe are enough."""


@dataclass(slots=True, kw_only=True)
class Tuner:
    """Chooses the configurations of every block; see ``rounds.OpenCells``."""

    tuning: Tuning
    ends_s: float
    """The moment at which the budget is spent, by ``clock``."""
    clock: Callable[[], float] = time.monotonic
    _begun: tuple[float, int] | None = None
    """When the first block was asked for, and how many launches there were then."""

    def __call__(self, race: Race, cells: Sequence[Cell]) -> Sequence[Cell]:
        """Return the cells of the next block; none where the answer is there."""
        race = counted(race)
        made = len(race.launches)
        now = self.clock()
        if self._begun is None:
            self._begun = now, made
        each_s = (now - self._begun[0]) / (made - self._begun[1]) if made > self._begun[1] else _launch_s(race)
        left = math.inf if each_s <= 0 else (self.ends_s - now) / each_s
        propose = proposer(places_of(race.stacks, self.tuning), race.seed + made) if self.tuning.proposes else None
        racing = {race.stacks[i] for i in next_round(grid_of_race(race), left, propose).racing}
        return [cell for cell in cells if cell.stack.path in racing]

    def decide(self, race: Race) -> Decisions:
        """Nothing is decided between blocks but who races in the next: see ``__call__``."""
        return Decisions(settled=False, dropped=frozenset())


def grid_of_race(race: Race) -> Grid:
    """Return the configurations of ``race`` and what was measured of them, in the order of its stacks."""
    tuning = tuning_of(race)
    assert tuning is not None
    race = counted(race)
    blocks = blocks_of(race)
    levels = measured_levels(race, response=response_of(tuning.goal), believed=believed_for(tuning.goal))
    level = levels[headline_of(levels)] if levels else None
    rows = dict(zip(level.stacks, level.values, strict=True)) if level else {}
    launched = {(launch.stack, launch.block) for launch in race.launches}
    out = {one.stack for one in unfit(race)}
    number = {path: i for i, path in enumerate(race.stacks)}
    return grid_of(
        values=[rows.get(path, (math.nan,) * len(blocks)) for path in race.stacks],
        entered=[[(path, block) in launched for block in blocks] for path in race.stacks],
        # memory does not hang on how fast the cores are; a latency does, in ways of its own
        slices=slices_of(race, blocks) if tuning.goal.kind is GoalKind.THROUGHPUT else None,
        places=places_of(race.stacks, tuning),
        delta=math.log1p(race.difference),
        references=tuple(sorted({number[path] for path in tuning.references.values() if path in number})),
        strangers=tuple(number[path] for path in race.stacks if path not in tuning.settings),
        reserve=tuple(number[path] for path in tuning.reserve if path in number),
        out=tuple(sorted(number[path] for path in out if path in number)),
    )


def places_of(stacks: Sequence[str], tuning: Tuning) -> list[tuple[float, ...]]:
    """Return where each of ``stacks`` lies on the grid of its knobs, in steps; NaN for off the grid."""
    nowhere = (math.nan,) * len(tuning.knobs)
    return [
        tuple(_step(knob, value) for knob, value in zip(tuning.knobs, tuning.settings[path], strict=True))
        if path in tuning.settings
        else nowhere
        for path in stacks
    ]


_APART = 2.0
"""Values that are no numbers lie so many steps apart: the next is not like the one before."""


def steps_of(knob: Knob) -> tuple[float, ...]:
    """Return where the values of a knob lie on the grid."""
    return tuple(i * (1.0 if knob.numeric else _APART) for i in range(len(knob.ladder)))


def _step(knob: Knob, value: str | None) -> float:
    """Return the step of ``value``: before the first where the knob means nothing, or between two."""
    if value is None:
        return -1.0
    if value in knob.ladder:
        return steps_of(knob)[knob.ladder.index(value)]
    if not knob.numeric or not value.isdecimal() or int(value) < 1:
        return math.nan
    steps = [math.log(int(one)) for one in knob.ladder]
    at = math.log(int(value))
    for step, (low, high) in enumerate(pairwise(steps)):
        if low <= at <= high:
            return step + (at - low) / (high - low)
    return float(len(steps)) if at > steps[-1] else -1.0


def unfit(race: Race) -> tuple[Infeasible, ...]:
    """Return the configurations that were launched, and found to be none that may be chosen."""
    return tuple(
        one for path, launches in by_stack(counted(race)).items() for one in _found(tuning_of(race), path, launches)
    )


def by_stack(race: Race) -> dict[str, list[Launch]]:
    """Return the launches of a race by the paths of their stacks."""
    found: dict[str, list[Launch]] = {}
    for launch in race.launches:
        found.setdefault(launch.stack, []).append(launch)
    return found


def _found(tuning: Tuning, path: str, launches: Sequence[Launch]) -> Iterator[Infeasible]:
    needs = needs_of(launches)
    why = None
    if exceeded := tuning.limits.exceeded(needs):
        why = exceeded[0].kind
    elif sum(_overloaded(launch, tuning) for launch in launches) >= _OVERLOADS:
        why = Unfit.RATE
    elif len(launches) >= _FAILURES and not any(_is_valid(launch, tuning) for launch in launches):
        why = Unfit.FAILED
    if why is not None:
        yield Infeasible(stack=path, kind=why, needs=needs, measured=True)


def needs_of(launches: Sequence[Launch]) -> Needs | None:
    """Return the most that the ``launches`` of a configuration were seen to use; None where nobody looked."""
    memory = max(map(memory_bytes, launches), default=0)
    seen = [launch.peak_connections for launch in launches if launch.peak_connections is not None]
    return Needs(memory_bytes=memory, connections=max(seen, default=None)) if memory else None


def _is_valid(launch: Launch, tuning: Tuning) -> bool:
    return launch.verdict.valid and any(map(believed_for(tuning.goal), launch.slices))


def _overloaded(launch: Launch, tuning: Tuning) -> bool:
    """Tell whether a launch did not keep up with its rate in any of its slices."""
    failing = [any(f.check == overload.declaration.id for f in s.verdict.findings) for s in launch.slices]
    return bool(failing) and all(failing) and not _is_valid(launch, tuning)


def _launch_s(race: Race) -> float:
    """Return what a launch took, as far as launches tell, with what lies around its slices."""
    took = [
        launch.ready_s + launch.warmup_s + sum(slice_.result.duration_s + 0.4 for slice_ in launch.slices)
        for launch in race.launches
        if launch.ready_s is not None
    ]
    return sum(took) / len(took) if took else 0.0
