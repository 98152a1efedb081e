"""The race itself: blocks until the question is answered, the budget spent, or every run made."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from ..deploy.place import Place
from ..model.errors import InterruptedRace
from ..model.race import Ending, Race, RacePlan
from ..model.stack import Stack
from .events import BlockEnded, Progress, RaceEnded, RaceStarted, Sink, TwinChosen
from .ledger import Ledger
from .runs import Runs
from .slices import Slices
from .standing import decisions
from .steps import Steps
from .twins import came_up, choice, crew

__all__ = ["run"]


class _Blocks(Protocol):
    """A kind of block: what each consists of, and how many there are. ``ending`` says why there is no other."""

    ending: Ending

    def check(self, remaining_s: float) -> None:
        """Raise InputError when not even one block is possible in ``remaining_s``, which may be infinite."""

    def another(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Make one more block; False when there is to be none."""


def run(
    plan: RacePlan,
    race: Race,
    place: Place,
    sink: Sink,
    *,
    begun_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Race:
    """Race ``plan`` on ``place``, telling ``sink`` everything as it happens; returns the finished race.

    ``race`` holds the plan's words and the host; ``begun_s`` is the moment (monotonic) from which the budget
    counts, now by default. An interruption (KeyboardInterrupt, InterruptedRace) ends the race with what was
    measured. Raises InputError when the budget does not hold even one block.
    """
    begun = clock() if begun_s is None else begun_s
    twin = choice(plan, plan.stacks)
    # one that went on after an interruption keeps the twin it had
    ledger = Ledger(race if race.twin or twin is None else replace(race, twin=twin.path))
    sink(RaceStarted(ledger.race))
    ending = Ending.INTERRUPTED
    try:
        ending = _blocks(plan, place, ledger, sink, lambda: _budget_s(plan) - (clock() - begun))
    except (KeyboardInterrupt, InterruptedRace):
        pass
    finally:
        # an error of ours must not leave the race open in the store either
        finished = ledger.end(ending, clock() - begun)
        sink(RaceEnded(ending, finished.elapsed_s))
    return finished


def _budget_s(plan: RacePlan) -> float:
    return math.inf if plan.budget_s is None else plan.budget_s


def _blocks(plan: RacePlan, place: Place, ledger: Ledger, sink: Sink, remaining_s: Callable[[], float]) -> Ending:
    shuffler = random.Random(plan.seed)
    blocks: _Blocks = Slices(plan, shuffler) if plan.repeats is None else Runs(plan, plan.repeats, shuffler)
    blocks.check(remaining_s())
    sink(Progress("calibrating the load engine", None))
    place.calibrate(plan.loads)
    racing: list[Stack] = list(plan.stacks)
    number = 0
    while racing:
        steps = Steps(number=number, place=place, ledger=ledger, sink=sink)
        present = crew(racing, plan, ledger.race.twin, ledger.given_up)
        if not blocks.another(steps, present, remaining_s()):
            return blocks.ending
        number += 1
        _keep_the_twin(plan, ledger, sink)
        race = ledger.race
        sink(BlockEnded(number, race))
        seen = decisions(race)
        if seen.settled:
            return Ending.ANSWERED
        racing = [s for s in racing if s.path not in seen.dropped and not ledger.given_up(s.path)]
    return Ending.EXHAUSTED


def _keep_the_twin(plan: RacePlan, ledger: Ledger, sink: Sink) -> None:
    """After a block in which the pair never came up, choose another of those that did."""
    race = ledger.race
    if not race.twin or came_up(race):
        return
    launched = {launch.stack for launch in race.launches if launch.ready_s is not None}
    other = choice(plan, [s for s in plan.stacks if s.path in launched and s.path != race.twin])
    if other is not None:
        ledger.name_twin(other.path)
        sink(TwinChosen(other.path))
