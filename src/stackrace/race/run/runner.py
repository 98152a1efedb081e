"""The race itself: blocks until the question is answered, the budget spent, or every run made."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from ...base.errors import InterruptedRace, StackraceError
from ...deploy.machine import Machine
from ...stacks.stack import Stack
from .. import events
from ..judge.decisions import Decisions
from ..plan import RacePlan
from ..preparation.prepared import PreparedRace
from ..results.race import Ending, Race
from .lanes import Course, Lanes, MakeLanes, OneLane
from .ledger import Ledger
from .resume import blocks_done, spent_s
from .scheduling import FOR_THE_WINNER, Scheduling
from .steps import broken_off
from .stopwatch import Phase
from .twins import came_up, choice, next_stacks, replacement


def check_budget(
    plan: RacePlan,
    *,
    begun_s: float | None = None,
    scheduling: Scheduling = FOR_THE_WINNER,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Raise InputError if the rest of the budget does not hold even one block; see ``run``."""
    begun = clock() - spent_s(plan.race) if begun_s is None else begun_s
    if not blocks_done(plan.race):
        scheduling.blocks(plan).check(_budget_s(plan) - (clock() - begun))


def run(
    plan: RacePlan,
    machine: Machine,
    sink: events.Sink,
    *,
    begun_s: float | None = None,
    scheduling: Scheduling = FOR_THE_WINNER,
    lanes: MakeLanes = OneLane,
    clock: Callable[[], float] = time.monotonic,
) -> Race:
    """Race ``plan`` on ``machine``, or on those of ``lanes``, and return the finished race.

    ``sink`` gets every event as it happens. ``begun_s`` is the moment (monotonic) from which the budget counts, now
    by default. A resumed race (``resume.going_on``) has its earlier launches, and has already spent its
    ``elapsed_s``. ``scheduling`` chooses the cells of every block, and ends the race. An interruption
    (KeyboardInterrupt, InterruptedRace) also ends the race, and the results so far are returned. Raises InputError
    before the first event if the budget does not hold even one block.
    """
    check_budget(plan, begun_s=begun_s, scheduling=scheduling, clock=clock)
    race = plan.race
    begun = clock() - spent_s(race) if begun_s is None else begun_s
    twin = choice(plan, plan.stacks)
    # a resumed race keeps its twin, or stays without one
    race = race if race.resumed or twin is None else replace(race, twin=twin.path)
    plan, ledger = replace(plan, race=race), Ledger(race, scheduling.is_given_up)
    sink(events.RaceResumed(ledger.race) if race.resumed else events.RaceStarted(ledger.race))
    ending, broken = Ending.INTERRUPTED, None

    def elapsed_s() -> float:
        return clock() - begun

    course = Course(plan=plan, scheduling=scheduling, ledger=ledger, sink=sink)
    running = lanes(machine, course)
    watch = running.all[0].steps.watch
    try:
        try:
            ending = _run_blocks(course, running, elapsed_s)
        finally:
            running.finish_stops()
    except (KeyboardInterrupt, InterruptedRace):
        pass
    except BaseException as error:
        broken = error
        raise
    finally:
        for launch in ledger.end_open(broken_off(broken)):
            # the first error is the one to report
            with suppress(StackraceError):
                sink(events.LaunchEnded(launch))
        if ending is not Ending.INTERRUPTED and ledger.race.twin and not came_up(ledger.race):
            _name_twin("", ledger, sink)
        # an error of ours must not leave the race open in the store either
        took_s = elapsed_s()
        finished = ledger.end(ending, took_s, watch.duty(took_s - spent_s(race)))
        sink(events.RaceEnded(ending, took_s, finished.duty))
    return finished


def run_prepared(ready: PreparedRace, shown: events.Sink) -> Race:
    """Run a race that is ready and return it; ``shown`` gets every event after it is stored.

    An interrupted race is stored and returned, too, with the ending INTERRUPTED.
    """

    def emit(event: events.Event) -> None:
        if ready.keeper is not None:
            ready.keeper(event)
        shown(event)

    return run(
        ready.plan, ready.machine, emit, begun_s=ready.begun_s, scheduling=ready.scheduling, lanes=ready.lanes
    )


def _budget_s(plan: RacePlan) -> float:
    return math.inf if plan.budget_s is None else plan.budget_s


def _run_blocks(course: Course, lanes: Lanes, elapsed_s: Callable[[], float]) -> Ending:
    plan, scheduling, ledger, sink = course.plan, course.scheduling, course.ledger, course.sink
    racing, several, budget_s = list(plan.stacks), len(lanes.all) > 1, _budget_s(plan)
    if lanes.done:
        so_far = scheduling.decide(ledger.race)
        if so_far.settled:
            return Ending.ANSWERED
        racing = _still_racing(racing, so_far, ledger)
    sink(events.Progress(events.Activity.CALIBRATING))
    for lane in lanes.all:
        with lane.steps.watch.during(Phase.CALIBRATING):
            lane.steps.machine.calibrate(plan.race.loads)
    while racing:
        present = next_stacks(racing, plan, ledger.race, ledger.given_up)
        if not scheduling.cells(ledger.race, plan.cells(racing)):
            return Ending.ANSWERED
        if not lanes.round(present, budget_s - elapsed_s()):
            return lanes.all[0].blocks.ending
        other = replacement(plan, ledger.race)
        if other is not None:
            _name_twin(other.path, ledger, sink)
        lanes.all[0].steps.pending_stops.then(partial(_emit_block, lanes.done, ledger, sink, elapsed_s))
        so_far = scheduling.decide(ledger.race)
        if so_far.settled:
            # stopping may show that a launch is invalid
            lanes.finish_stops()
            so_far = scheduling.decide(ledger.race)
        if so_far.settled:
            return Ending.ANSWERED
        if plan.gives_up and _is_hopeless(so_far, lanes.done, 1 - elapsed_s() / budget_s):
            return Ending.HOPELESS
        # a dropped stack may return, once the blocks of an unequal machine are left out
        racing = _still_racing(plan.stacks if several else racing, so_far, ledger)
        compared = len(plan.stacks) > 1 and not plan.race.exhaustive and plan.race.repeats is None
        if compared and sum(not ledger.given_up(stack.path) for stack in plan.stacks) == 1:
            # all others failed: the last stack has no rival, however long it runs
            break
    return Ending.EXHAUSTED


def _is_hopeless(so_far: Decisions, done: int, left: float) -> bool:
    """Return True if at most half of the budget is left (the share ``left``), and it is unlikely to decide."""
    return left <= _HALF and so_far.blocks_needed > _BEYOND * done / (1 - left)


_HALF = 0.5
_BEYOND = 2.0
"""Factor by which the needed blocks must exceed the budget's: blocks speed up once stacks leave, and forecasts
err."""


def _emit_block(number: int, ledger: Ledger, sink: events.Sink, elapsed_s: Callable[[], float]) -> None:
    race = ledger.race
    over = tuple(launch for launch in race.launches if launch.block < number)
    sink(events.BlockEnded(number, replace(race, launches=over, elapsed_s=elapsed_s())))


def _name_twin(path: str, ledger: Ledger, sink: events.Sink) -> None:
    ledger.name_twin(path)
    sink(events.TwinChosen(path))


def _still_racing(racing: Sequence[Stack], so_far: Decisions, ledger: Ledger) -> list[Stack]:
    return [s for s in racing if s.path not in so_far.dropped and not ledger.given_up(s.path)]
