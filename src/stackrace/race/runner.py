"""The race itself: blocks until the question is answered, the budget spent, or every run made."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, SimpleQueue

from ..base.errors import BreakdownError, InterruptedRace, StackraceError
from ..base.process import Background
from ..deploy.machine import Fleet, Machine
from ..measure.launch import EndedBy, Shortfall
from ..stacks.stack import Stack
from .blocks import Blocks, Rounds, Runs, Slices
from .decisions import Decide, Decisions, OpenCells, decisions
from .events import (
    Activity,
    BlockEnded,
    BlockStarted,
    Event,
    LaunchEnded,
    LaunchStarted,
    Progress,
    RaceEnded,
    RaceResumed,
    RaceStarted,
    Sink,
    TwinChosen,
)
from .ledger import Ledger
from .overhead import planned_launch_s
from .plan import RacePlan
from .preparation.prepared import PreparedRace
from .results.race import Ending, Race
from .resume import blocks_done, spent_s
from .steps import Steps, broken_off
from .stopwatch import Phase
from .twins import came_up, choice, next_stacks, replacement


def check_budget(
    plan: RacePlan,
    *,
    begun_s: float | None = None,
    open_cells: OpenCells | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Raise InputError if the rest of the budget does not hold even one block; see ``run``."""
    begun = clock() - spent_s(plan.race) if begun_s is None else begun_s
    if not blocks_done(plan.race):
        _kind(plan, open_cells).check(_budget_s(plan) - (clock() - begun))


def run(
    plan: RacePlan,
    machine: Machine | Fleet,
    sink: Sink,
    *,
    begun_s: float | None = None,
    open_cells: OpenCells | None = None,
    decide: Decide = decisions,
    clock: Callable[[], float] = time.monotonic,
) -> Race:
    """Race ``plan`` on ``machine``, or on several equal ones at once, and return the finished race.

    ``sink`` gets every event as it happens. ``begun_s`` is the moment (monotonic) from which the budget counts, now
    by default. A resumed race (``resume.going_on``) has its launches, and has spent its ``elapsed_s`` already.
    ``open_cells`` chooses the cells of every block, and ends the race by choosing none. ``decide`` ends it once its
    question is answered. An interruption (KeyboardInterrupt, InterruptedRace) ends the race with the results so
    far. Raises InputError before the first event if the budget does not hold even one block.
    """
    check_budget(plan, begun_s=begun_s, open_cells=open_cells, clock=clock)
    race = plan.race
    begun = clock() - spent_s(race) if begun_s is None else begun_s
    twin = choice(plan, plan.stacks)
    # a resumed race keeps its twin, or stays without one
    race = race if race.resumed or twin is None else replace(race, twin=twin.path)
    plan, ledger = replace(plan, race=race), Ledger(race)
    sink(RaceResumed(ledger.race) if race.resumed else RaceStarted(ledger.race))
    ending, broken = Ending.INTERRUPTED, None

    def elapsed_s() -> float:
        return clock() - begun

    lanes = _Lanes(plan, machine, open_cells, ledger, sink)
    watch = lanes.first.steps.watch
    try:
        try:
            ending = _blocks(plan, lanes, ledger, sink, elapsed_s, open_cells, decide)
        finally:
            lanes.finish_stops()
    except (KeyboardInterrupt, InterruptedRace):
        pass
    except BaseException as error:
        broken = error
        raise
    finally:
        for launch in ledger.end_open(broken_off(broken)):
            # the first error is the one to report
            with suppress(StackraceError):
                sink(LaunchEnded(launch))
        if ending is not Ending.INTERRUPTED and ledger.race.twin and not came_up(ledger.race):
            _name_twin("", ledger, sink)
        # an error of ours must not leave the race open in the store either
        took_s = elapsed_s()
        finished = ledger.end(ending, took_s, watch.duty(took_s - spent_s(race)))
        sink(RaceEnded(ending, took_s, finished.duty))
    return finished


def run_prepared(ready: PreparedRace, shown: Sink) -> Race:
    """Run a race that is ready and return it; ``shown`` gets every event after it is stored.

    An interrupted race is stored and returned, too, with the ending INTERRUPTED.
    """

    def emit(event: Event) -> None:
        if ready.keeper is not None:
            ready.keeper(event)
        shown(event)

    return run(
        ready.plan, ready.machine, emit, begun_s=ready.begun_s, open_cells=ready.open_cells, decide=ready.decide
    )


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
    lanes: _Lanes,
    ledger: Ledger,
    sink: Sink,
    elapsed_s: Callable[[], float],
    open_cells: OpenCells | None,
    decide: Decide,
) -> Ending:
    racing, several, budget_s = list(plan.stacks), len(lanes.all) > 1, _budget_s(plan)
    if lanes.done:
        so_far = decide(ledger.race)
        if so_far.settled:
            return Ending.ANSWERED
        racing = _left(racing, so_far, ledger)
    sink(Progress(Activity.CALIBRATING))
    for lane in lanes.all:
        with lane.steps.watch.during(Phase.CALIBRATING):
            lane.steps.machine.calibrate(plan.race.loads)
    while racing:
        present = next_stacks(racing, plan, ledger.race, ledger.given_up)
        if open_cells is not None and not open_cells(ledger.race, plan.cells(racing)):
            return Ending.ANSWERED
        if not lanes.round(present, budget_s - elapsed_s()):
            return lanes.first.blocks.ending
        other = replacement(plan, ledger.race)
        if other is not None:
            _name_twin(other.path, ledger, sink)
        lanes.first.steps.pending_stops.then(partial(_emit_block, lanes.done, ledger, sink, elapsed_s))
        so_far = decide(ledger.race)
        if so_far.settled:
            # stopping may show that a launch is invalid
            lanes.finish_stops()
            so_far = decide(ledger.race)
        if so_far.settled:
            return Ending.ANSWERED
        if plan.gives_up and _is_hopeless(so_far, lanes.done, 1 - elapsed_s() / budget_s):
            return Ending.HOPELESS
        # a dropped stack may return, once the blocks of an unequal machine are left out
        racing = _left(plan.stacks if several else racing, so_far, ledger)
        compared = len(plan.stacks) > 1 and not plan.race.exhaustive and plan.race.repeats is None
        if compared and sum(not ledger.given_up(stack.path) for stack in plan.stacks) == 1:
            # all others failed: the last stack has no rival, however long it runs
            break
    return Ending.EXHAUSTED


def _is_hopeless(so_far: Decisions, done: int, left: float) -> bool:
    """Return True if the rest of the budget, the share ``left``, at most half, is unlikely to decide."""
    return left <= _HALF and so_far.blocks_needed > _BEYOND * done / (1 - left)


_HALF = 0.5
_BEYOND = 2.0
"""Factor over the budget's blocks that must be needed: blocks speed up once stacks leave, and forecasts err."""


def _emit_block(number: int, ledger: Ledger, sink: Sink, elapsed_s: Callable[[], float]) -> None:
    race = ledger.race
    over = tuple(launch for launch in race.launches if launch.block < number)
    sink(BlockEnded(number, replace(race, launches=over, elapsed_s=elapsed_s())))


def _name_twin(path: str, ledger: Ledger, sink: Sink) -> None:
    ledger.name_twin(path)
    sink(TwinChosen(path))


def _left(racing: Sequence[Stack], so_far: Decisions, ledger: Ledger) -> list[Stack]:
    return [s for s in racing if s.path not in so_far.dropped and not ledger.given_up(s.path)]


_LOOK_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lane:
    """One machine with its steps, and its blocks, whose lengths depend on the cost of launches there."""

    steps: Steps
    blocks: Blocks


class _Lanes:
    """The machines of a race, which advance by whole rounds; ``done`` is the number of blocks that are over.

    A block runs on one machine only, so that no pair is split. A round is one block on each machine. All events are
    sent by the thread that runs the race.
    """

    def __init__(
        self, plan: RacePlan, machine: Machine | Fleet, open_cells: OpenCells | None, ledger: Ledger, sink: Sink
    ) -> None:
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._stopping = threading.Event()
        self._ledger = ledger
        self._sink = sink
        self.done = blocks_done(plan.race)
        machines = machine.machines if isinstance(machine, Fleet) else {"": machine}
        self.all = [
            _Lane(
                steps=Steps(
                    number=self.done,
                    machine_name=name,
                    machine=each,
                    ledger=ledger,
                    sink=sink if len(machines) == 1 else self._enqueue,
                    start_s=planned_launch_s(plan),
                ),
                blocks=_kind(plan, open_cells),
            )
            for name, each in machines.items()
        ]

    @property
    def first(self) -> _Lane:
        """The machine whose stopwatch counts."""
        return self.all[0]

    def finish_stops(self) -> None:
        """Wait until all stopping stacks are gone."""
        for lane in self.all:
            lane.steps.pending_stops.finish()
        self._pass_on()

    def round(self, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Run one more block on each machine; return False if there is none left.

        A lost machine leaves the race, and its block counts nowhere. Raises BreakdownError if it was the last one.
        """
        blocks = len(self.all)
        if blocks == 1:
            made = self.first.blocks.run_next(self.first.steps, racing, remaining_s)
        else:
            made = self._together(racing, remaining_s)
        if made:
            # a lost machine has used its number, too
            self.done += blocks
            for number, lane in enumerate(self.all):
                lane.steps.number = self.done + number
        return made

    def _together(self, racing: Sequence[Stack], remaining_s: float) -> bool:
        for number, lane in enumerate(self.all):
            lane.steps.number = self.done + number
        making = {lane.steps.number: Background(partial(_block, lane, racing, remaining_s)) for lane in self.all}
        try:
            while not all(each.wait(0) for each in making.values()):
                self._pass_on(_LOOK_S)
        except BaseException:
            # no machine starts anything new, and all stop their stacks
            self._stopping.set()
            for each in making.values():
                each.wait()
            raise
        finally:
            self._pass_on()
        return self._made(making)

    def _made(self, making: dict[int, Background[bool]]) -> bool:
        made, lost = [], []
        for lane in list(self.all):
            try:
                made.append(making[lane.steps.number].finish())
            except BreakdownError as error:
                self.all.remove(lane)
                why = Shortfall(ended_by=EndedBy.LOST, words=error.message)
                for launch in self._ledger.cut(lane.steps.number, why):
                    self._sink(LaunchEnded(launch))
                lost.append(error)
        if not self.all:
            raise lost[0]
        return any(made)

    def _enqueue(self, event: Event) -> None:
        """Queue an event of a machine's thread; InterruptedRace there if it must stop and starts something."""
        if self._stopping.is_set() and isinstance(event, (BlockStarted, LaunchStarted, Progress)):
            raise InterruptedRace("the race is to stop")
        self._events.put(event)

    def _pass_on(self, wait_s: float = 0.0) -> None:
        while True:
            try:
                event = self._events.get(timeout=wait_s) if wait_s else self._events.get_nowait()
            except Empty:
                return
            self._sink(event)


def _block(lane: _Lane, racing: Sequence[Stack], remaining_s: float) -> bool:
    made = lane.blocks.run_next(lane.steps, racing, remaining_s)
    # the round ends when all its stacks are gone: findings of their stops belong to it
    lane.steps.pending_stops.finish()
    return made
