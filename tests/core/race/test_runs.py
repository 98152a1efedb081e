"""Blocks of runs, on a machine that measures nothing."""

import itertools
import math
from dataclasses import replace

from stackrace.measure.launch import FailureKind
from stackrace.race.events import Activity, BlockStarted, LaunchEnded, Progress, RaceEnded
from stackrace.race.results.race import Ending
from stackrace.race.run.blocks import _RUN_LIMIT_S
from stackrace.race.run.ledger import _FAILED_LAUNCHES
from stackrace.report.words import findings as say

from .simulated import PATHS, SPEEDS, Nowhere, asking, race


def test_every_run_is_made_cold_and_whole_on_a_launch_of_its_own(clock):
    machine = Nowhere(clock, SPEEDS)
    finished, _ = race(
        clock, machine, PATHS, levels=(1, 10), workloads=(asking("a"), asking("b")), repeats=3,
        run={"requests": 500}, budget_s=None,
    )  # fmt: skip
    assert finished.ending is Ending.COMPLETED
    assert len(finished.launches) == 3 * len(PATHS) * 2 * 2
    assert all(len(launch.slices) == 1 for launch in finished.launches)
    assert all(launch.warmup_s == 0 for launch in finished.launches)
    # nothing but the runs themselves was sent, and no other stack was up meanwhile
    assert [load.requests for _, _, load, _, _ in machine.seen] == [500] * len(finished.launches)
    assert {rewarm_s for *_, rewarm_s, _ in machine.seen} == {0.0}
    assert {up for _, up in machine.launches} == {1}
    for block in range(3):
        made = [launch for launch in finished.launches if launch.block == block]
        cells = [(one.stack, one.slices[0].workload, one.slices[0].load.concurrency) for one in made]
        assert sorted(cells) == sorted(itertools.product(PATHS, ("a", "b"), (1, 10)))


def test_a_budget_bounds_runs(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, repeats=50, run={"duration_s": 5.0}, budget_s=60.0)
    assert finished.ending is Ending.BUDGET
    assert 60 <= finished.elapsed_s <= 75
    assert finished.launches


def test_a_run_that_is_counted_in_requests_is_cut_off_some_time(clock):
    machine = Nowhere(clock, SPEEDS)
    race(clock, machine, PATHS, repeats=1, run={"requests": 100}, budget_s=None)
    assert {limit_s for *_, limit_s in machine.seen} == {_RUN_LIMIT_S}
    machine = Nowhere(clock, SPEEDS)
    race(clock, machine, PATHS, repeats=1, run={"requests": 100}, budget_s=60.0)
    assert all(0 < limit_s <= 60 for *_, limit_s in machine.seen)


def test_a_run_that_was_cut_off_says_so(clock):
    class Hanging(Nowhere):
        def load(self, stack, workload, load, rewarm_s, limit_s=math.inf):
            seen = super().load(stack, workload, load, rewarm_s, limit_s)
            return replace(seen, result=replace(seen.result, duration_s=limit_s))

    finished, _ = race(clock, Hanging(clock, SPEEDS), ["gunicorn"], repeats=1, run={"requests": 100}, budget_s=None)
    ((run,),) = (launch.slices for launch in finished.launches)
    assert "run cut off" in [say.title(finding) for finding in run.verdict.findings]


def test_a_stack_that_does_not_start_is_not_tried_at_every_cell(clock):
    machine = Nowhere(clock, SPEEDS, not_starting={"waitress"})
    finished, _ = race(clock, machine, PATHS, levels=(1, 5, 10), repeats=3, run={"requests": 100}, budget_s=None)
    assert sum(launch.stack == "waitress" for launch in finished.launches) == _FAILED_LAUNCHES
    assert sum(launch.stack == "gunicorn" for launch in finished.launches) == 9
    assert finished.ending is Ending.COMPLETED


def test_a_stack_that_dies_in_a_run_is_launched_again_for_the_next(clock):
    machine = Nowhere(clock, SPEEDS, dying={"cheroot"})
    finished, _ = race(clock, machine, PATHS, levels=(1, 10), repeats=2, run={"requests": 100}, budget_s=None)
    dead = [launch for launch in finished.launches if launch.stack == "cheroot"]
    assert len(dead) == 4
    assert all(launch.failure.kind is FailureKind.DIED and launch.slices for launch in dead)
    assert machine.up == []


def test_runs_that_are_interrupted_keep_what_was_measured_and_stop_everything(clock):
    machine = Nowhere(clock, SPEEDS, interrupt_after=5)
    finished, told = race(clock, machine, PATHS, repeats=3, run={"requests": 100}, budget_s=None)
    assert finished.ending is Ending.INTERRUPTED
    assert sum(bool(launch.slices) for launch in finished.launches) == 4
    assert machine.up == []
    assert isinstance(told[-1], RaceEnded)


def test_events_tell_of_all_runs(clock):
    finished, told = race(clock, Nowhere(clock, SPEEDS), PATHS, repeats=2, run={"requests": 100}, budget_s=None)
    assert [event.block for event in told if isinstance(event, BlockStarted)] == [0, 1]
    ended = [event.launch.id for event in told if isinstance(event, LaunchEnded)]
    assert ended == [launch.id for launch in finished.launches]
    activities = {event.activity for event in told if isinstance(event, Progress)}
    assert Activity.WARMING_UP not in activities
