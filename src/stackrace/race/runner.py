"""The race itself: blocks until the question is answered, the budget spent, or every run made."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..base.errors import InterruptedRace
from ..deploy.place import Fleet, Place
from ..stacks.stack import Stack
from .decisions import Decisions, decisions
from .events import (
    Activity,
    BlockEnded,
    BlockStarted,
    Progress,
    RaceEnded,
    RaceResumed,
    RaceStarted,
    Sink,
    TwinChosen,
)
from .lanes import Blocks, Lane, Lanes
from .ledger import Ledger
from .overhead import planned_launch_s
from .plan import Cell, RacePlan
from .results.race import Ending, Race
from .resume import blocks_done, spent_s
from .slices import Rounds, Slices
from .steps import Steps, shuffled, shuffler_of
from .stopwatch import Phase
from .strategies import Decide, OpenCells
from .twins import came_up, choice, crew, replacement

RUN_LIMIT_S = 600.0
"""A run of a number of requests is cut off after so long: against a server that hangs it might never end."""


@dataclass(slots=True, kw_only=True)
class _RunBlock:
    """One run of each cell, in shuffled order: launch (which asks every URL once), measure, retire."""

    cells: Sequence[Cell]
    steps: Steps
    shuffler: random.Random
    eta_s: float | None = None
    """How long all that is left of the race may take, None while nothing tells."""

    def run(self) -> bool:
        """Make the runs; tells whether there was time for all of them."""
        order = shuffled(self.cells, self.shuffler)
        steps = self.steps
        stacks = tuple(dict.fromkeys(cell.stack.path for cell in order))
        steps.sink(BlockStarted(steps.number, stacks, self.eta_s))
        for cell in order:
            if time.monotonic() >= steps.deadline_s:
                return False
            if not steps.ledger.given_up(cell.stack.path):
                self._once(cell)
        return True

    def _once(self, cell: Cell) -> None:
        steps = self.steps
        try:
            steps.launch(cell.stack)
            if cell.stack in steps.up:
                steps.announce(cell)
                limit_s = max(min(RUN_LIMIT_S, steps.deadline_s - time.monotonic()), 0.0)
                observation = steps.measure(cell, cell.load, 0.0, limit_s)
                # a run is what it is: there is no second one beside the repeats that were asked for
                steps.wait_for_quiet(steps.book(cell, replace(observation, limit_s=limit_s), may_redo=False))
        finally:
            if steps.up:
                steps.retire()
                # a cold start is measured: nothing else may be under way
                steps.pending_stops.finish()


class Runs:
    """Decides whether another block of runs is made: as many as were asked for, time permitting.

    Where ``open_cells`` chooses among the cells, those it leaves out are not run any more.
    """

    def __init__(self, plan: RacePlan, repeats: int, open_cells: OpenCells | None = None) -> None:
        self._plan = plan
        self._repeats = repeats
        self._spent_s = spent_s(plan.race)
        self._open_cells = open_cells
        self.ending = Ending.COMPLETED

    def check(self, remaining_s: float) -> None:
        """Any number of runs may be made: nothing is refused."""

    def another(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Make one more block within ``remaining_s``, infinite where nothing bounds it; False when it is over."""
        if steps.number >= self._repeats or self.ending is Ending.BUDGET:
            return False
        steps.deadline_s = time.monotonic() + remaining_s
        begun_s = time.monotonic()
        cells = self._plan.cells(racing)
        block = _RunBlock(
            cells=cells if self._open_cells is None else self._open_cells(steps.ledger.race, cells),
            steps=steps,
            shuffler=shuffler_of(self._plan.race.seed, steps.number),
            eta_s=self._eta_s(steps.number, remaining_s),
        )
        if not block.run():
            self.ending = Ending.BUDGET
        self._spent_s += time.monotonic() - begun_s
        return True

    def _eta_s(self, done: int, remaining_s: float) -> float | None:
        """The blocks to come take as long as those before did, if the budget allows them."""
        return min(self._spent_s / done * (self._repeats - done), remaining_s) if done else None


def check_budget(
    plan: RacePlan,
    *,
    begun_s: float | None = None,
    open_cells: OpenCells | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Raise InputError when what is left of the budget does not hold even one block; see ``run``."""
    begun = clock() - spent_s(plan.race) if begun_s is None else begun_s
    if not blocks_done(plan.race):
        _kind(plan, open_cells).check(_budget_s(plan) - (clock() - begun))


def run(
    plan: RacePlan,
    place: Place | Fleet,
    sink: Sink,
    *,
    begun_s: float | None = None,
    open_cells: OpenCells | None = None,
    decide: Decide = decisions,
    clock: Callable[[], float] = time.monotonic,
) -> Race:
    """Race ``plan`` on ``place``, or on several equal ones at once, and return the finished race.

    ``sink`` hears everything as it happens. ``begun_s`` is the moment (monotonic) from which the budget counts, now
    by default. A race that goes on (``resume.going_on``) has its launches, and has spent its ``elapsed_s`` already.
    ``open_cells`` chooses the cells of every block, and ends the race by leaving none. ``decide`` ends it with its
    question answered. An interruption (KeyboardInterrupt, InterruptedRace) ends the race with what was measured.
    Raises InputError before it tells anything when the budget does not hold even one block.
    """
    check_budget(plan, begun_s=begun_s, open_cells=open_cells, clock=clock)
    race = plan.race
    begun = clock() - spent_s(race) if begun_s is None else begun_s
    twin = choice(plan, plan.stacks)
    # one that goes on after an interruption keeps the twin it had, or goes on without
    race = race if race.resumed or twin is None else replace(race, twin=twin.path)
    plan, ledger = replace(plan, race=race), Ledger(race)
    sink(RaceResumed(ledger.race) if race.resumed else RaceStarted(ledger.race))
    ending = Ending.INTERRUPTED
    machines = place.machines if isinstance(place, Fleet) else {"": place}

    def lane(machine: str, tell: Sink) -> Lane:
        steps = Steps(
            number=blocks_done(race),
            place=machines[machine],
            ledger=ledger,
            sink=tell,
            start_s=planned_launch_s(plan),
            machine=machine,
        )
        return Lane(steps=steps, blocks=_kind(plan, open_cells))

    def left_s() -> float:
        return _budget_s(plan) - (clock() - begun)

    lanes = Lanes(lane, list(machines), ledger, sink)
    watch = lanes.first.steps.watch
    try:
        try:
            ending = _blocks(plan, lanes, ledger, sink, left_s, open_cells, decide)
        finally:
            lanes.finish_stops()
    except (KeyboardInterrupt, InterruptedRace):
        pass
    finally:
        if ending is not Ending.INTERRUPTED and ledger.race.twin and not came_up(ledger.race):
            _name_twin("", ledger, sink)
        # an error of ours must not leave the race open in the store either
        elapsed_s = clock() - begun
        finished = ledger.end(ending, elapsed_s, watch.duty(elapsed_s - spent_s(race)))
        sink(RaceEnded(ending, elapsed_s, finished.duty))
    return finished


def _budget_s(plan: RacePlan) -> float:
    return math.inf if plan.budget_s is None else plan.budget_s


def _kind(plan: RacePlan, open_cells: OpenCells | None) -> Blocks:
    if plan.race.repeats is not None:
        return Runs(plan, plan.race.repeats, open_cells)
    if open_cells is not None:
        return Rounds(plan, open_cells)
    return Slices(plan)


def _blocks(
    plan: RacePlan,
    lanes: Lanes,
    ledger: Ledger,
    sink: Sink,
    remaining_s: Callable[[], float],
    open_cells: OpenCells | None,
    decide: Decide,
) -> Ending:
    racing, several = list(plan.stacks), len(lanes.all) > 1
    if lanes.done:
        so_far = decide(ledger.race)
        if so_far.settled:
            return Ending.ANSWERED
        racing = _left(racing, so_far, ledger)
    sink(Progress(Activity.CALIBRATING))
    for lane in lanes.all:
        with lane.steps.watch.during(Phase.CALIBRATING):
            lane.steps.place.calibrate(plan.race.loads)
    while racing:
        present = crew(racing, plan, ledger.race, ledger.given_up)
        if open_cells is not None and not open_cells(ledger.race, plan.cells(racing)):
            return Ending.ANSWERED
        if not lanes.round(present, remaining_s()):
            return lanes.first.blocks.ending
        other = replacement(plan, ledger.race)
        if other is not None:
            _name_twin(other.path, ledger, sink)
        lanes.first.steps.pending_stops.then(partial(_tell_block, lanes.done, ledger, sink))
        so_far = decide(ledger.race)
        if so_far.settled:
            # what stopping brings to light may make a launch invalid
            lanes.finish_stops()
            so_far = decide(ledger.race)
        if so_far.settled:
            return Ending.ANSWERED
        # who was dropped may be in again, once the blocks of an unequal machine are left out
        racing = _left(plan.stacks if several else racing, so_far, ledger)
        if _alone(plan, ledger):
            break
    return Ending.EXHAUSTED


def _tell_block(number: int, ledger: Ledger, sink: Sink) -> None:
    """Say that the first ``number`` blocks are over; launches of the next may be under way."""
    race = ledger.race
    over = tuple(launch for launch in race.launches if launch.block < number)
    sink(BlockEnded(number, replace(race, launches=over)))


def _alone(plan: RacePlan, ledger: Ledger) -> bool:
    """Tell whether all others failed: what is left has nothing to be compared with, however long it runs."""
    compared = len(plan.stacks) > 1 and not plan.race.exhaustive and plan.race.repeats is None
    return compared and sum(not ledger.given_up(stack.path) for stack in plan.stacks) == 1


def _name_twin(path: str, ledger: Ledger, sink: Sink) -> None:
    ledger.name_twin(path)
    sink(TwinChosen(path))


def _left(racing: Sequence[Stack], so_far: Decisions, ledger: Ledger) -> list[Stack]:
    """Return the stacks of the next block: neither dropped nor given up."""
    return [s for s in racing if s.path not in so_far.dropped and not ledger.given_up(s.path)]
