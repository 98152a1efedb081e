"""The race's own logic, on a machine that measures nothing."""

import itertools
import random
from dataclasses import replace

import pytest
from tests.factories import make_race
from tests.ordinary import ordinarily

from stackrace.base.errors import InputError
from stackrace.measure.launch import FailureKind
from stackrace.measure.workload import PageTime
from stackrace.race.events import Activity, LaunchEnded, LaunchStarted, Progress, RaceEnded, RaceStarted, SliceEnded
from stackrace.race.judge.decisions import Decisions
from stackrace.race.results.race import Ending
from stackrace.race.run import runner
from stackrace.race.run.ledger import _FAILED_LAUNCHES, Ledger
from stackrace.race.run.steps import Steps

from .simulated import PATHS, SPEEDS, Nowhere, asking, cells_of, plan_for, race


def test_the_budget_is_kept_and_filled(clock):
    for budget_s in (40.0, 60.0, 200.0):
        finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, budget_s=budget_s, levels=(1, 10))
        assert finished.elapsed_s <= 1.1 * budget_s
        if finished.ending is Ending.BUDGET:
            assert finished.elapsed_s >= 0.9 * budget_s


@pytest.mark.parametrize("stop_s", ordinarily([0.5, 3.0, 8.0], (3.0,)))
def test_a_budget_is_filled_however_long_stopping_takes(clock, stop_s):
    """What is left after a block is either enough for another one or was used up in it, on a machine with moods."""
    alike = dict.fromkeys(PATHS, 1000)
    moods = random.Random(7)
    for budget_s in range(80, 200, 7):
        machine = Nowhere(clock, alike, stop_s=stop_s)
        machine.next_launch_s = lambda: moods.uniform(0.5, 3.0)
        finished, _ = race(clock, machine, PATHS, budget_s=budget_s, levels=(1, 5, 10))
        if finished.ending is Ending.BUDGET:
            assert 0.9 * budget_s <= finished.elapsed_s <= 1.1 * budget_s, budget_s


@pytest.mark.parametrize("slice_s", [3.0, 6.0])
def test_a_budget_is_filled_with_slices_of_a_given_length(clock, slice_s):
    """Where a block of the shortest slices would fit, but none of these, the time is used in the block before."""
    for budget_s in range(40, 240, 9):
        machine = Nowhere(clock, dict.fromkeys(PATHS, 1000))
        finished, _ = race(clock, machine, PATHS, budget_s=budget_s, levels=(10,), slice_s=slice_s)
        if finished.ending is Ending.BUDGET:
            assert budget_s - finished.elapsed_s <= slice_s + 1, budget_s


def test_a_single_block_of_many_stacks_leaves_time_to_stop_them(clock):
    many = (*PATHS, "uwsgi", "granian", "bjoern", "uvicorn", "daphne", "hypercorn", "nginx/http/gunicorn")
    machine = Nowhere(clock, dict.fromkeys(many, 1000), stop_s=5.0)
    finished, _ = race(clock, machine, many, budget_s=50.0, levels=(1, 10, 100))
    assert {launch.block for launch in finished.launches} == {0}
    assert finished.elapsed_s <= 51


def test_no_slice_outlasts_the_budget_however_long_stacks_take_to_rest(clock):
    machine = Nowhere(clock, dict.fromkeys(PATHS, 1000))
    machine.rest_s = 3.0
    finished, _ = race(clock, machine, PATHS, budget_s=100, difference=0.001)
    assert finished.ending is Ending.BUDGET
    assert finished.elapsed_s <= 100 + machine.rest_s


def test_nothing_is_launched_or_warmed_up_after_the_budget_is_spent(clock):
    """A start takes eight times as long as was foreseen: the block ends with those that were up in time."""
    machine = Nowhere(clock, SPEEDS)
    machine.launch_s = 12.0
    finished, _ = race(clock, machine, PATHS, budget_s=20.0)
    assert len(machine.launches) == 2
    assert finished.elapsed_s <= 20 + 12
    assert all(launch.warmup_s == 0 for launch in finished.launches)
    assert finished.ending is Ending.BUDGET


def test_who_races_may_decide_by_another_question(clock):
    def after_three(race):
        done = len({launch.block for launch in race.launches}) == 3
        return Decisions(settled=done, dropped=frozenset({"cheroot"}))

    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, budget_s=3000, decide=after_three)
    assert finished.ending is Ending.ANSWERED
    assert sum(launch.stack == "cheroot" for launch in finished.launches) == 1


@pytest.mark.parametrize("gives_up", [True, False])
def test_a_race_that_gives_up_ends_at_half_of_its_budget_where_the_rest_would_not_decide(clock, gives_up):
    alike = dict.fromkeys(PATHS, 1000)
    finished, _ = race(clock, Nowhere(clock, alike), PATHS, budget_s=300.0, difference=1e-6, gives_up=gives_up)
    assert finished.ending is (Ending.HOPELESS if gives_up else Ending.BUDGET)
    assert (150.0 <= finished.elapsed_s < 220.0) is gives_up


def test_a_start_may_take_twice_what_is_expected_however_little_time_is_left(clock):
    class Patient(Nowhere):
        def launch(self, stack, timeout_s):
            patience.append(timeout_s)
            return replace(super().launch(stack, timeout_s), ready_s=7.0)

    patience = []
    machine = Patient(clock, SPEEDS)
    machine.calibrate(())
    steps = Steps(
        number=0,
        machine=machine,
        ledger=Ledger(make_race()),
        sink=lambda event: None,
        deadline_s=clock.now + 3,
        start_s=5.0,
    )
    stack = plan_for(PATHS[:1]).stacks[0]
    for _ in range(2):
        steps.launch(stack)
        steps.retire()
        steps.pending_stops.finish()
    assert patience == [10.0, 14.0]


def test_a_stack_that_dies_keeps_what_it_had(clock):
    machine = Nowhere(clock, SPEEDS, dying={"cheroot"})
    finished, _ = race(clock, machine, PATHS)
    dead = [launch for launch in finished.launches if launch.stack == "cheroot"]
    assert dead
    assert all(launch.failure.kind is FailureKind.DIED for launch in dead)
    assert machine.up == []


def test_when_nothing_is_left_the_race_ends(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS, not_starting=set(PATHS)), PATHS)
    assert finished.ending is Ending.EXHAUSTED


def test_an_interruption_keeps_what_was_measured_and_stops_everything(clock):
    machine = Nowhere(clock, SPEEDS, interrupt_after=12)
    finished, told = race(clock, machine, PATHS)
    assert finished.ending is Ending.INTERRUPTED
    assert any(launch.slices for launch in finished.launches)
    assert isinstance(told[-1], RaceEnded)
    assert machine.up == []


def test_events_tell_the_whole_race(clock):
    finished, told = race(clock, Nowhere(clock, SPEEDS), PATHS)
    assert isinstance(told[0], RaceStarted)
    started = [event.launch.id for event in told if isinstance(event, LaunchStarted)]
    ended = [event.launch.id for event in told if isinstance(event, LaunchEnded)]
    assert sorted(started) == sorted(ended) == sorted(launch.id for launch in finished.launches)
    slices = [event.slice for event in told if isinstance(event, SliceEnded)]
    assert [one.index for one in slices] == list(range(len(slices)))


def test_every_slice_keeps_what_the_machine_did_meanwhile(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS)
    kept = [one.conditions for launch in finished.launches for one in launch.slices]
    assert {one and one.stolen_s for one in kept} == {0.25}


def test_a_budget_that_getting_ready_used_up_says_so(clock):
    asked = plan_for(PATHS, budget_s=20.0)
    with pytest.raises(InputError, match=r"--budget 20 s .* takes \S+ s after 15 s of preparation, "):
        runner.run(asked, Nowhere(clock, SPEEDS), lambda event: None, begun_s=clock.now - 15, clock=clock)


def test_the_engine_is_calibrated_at_every_level_before_the_first_launch_and_within_the_budget(clock):
    machine = Nowhere(clock, SPEEDS)
    finished, told = race(clock, machine, PATHS, levels=(1, 10, 100))
    assert [load.concurrency for load in machine.calibrated] == [1, 10, 100]
    assert finished.elapsed_s == pytest.approx(clock.now - 1000.0)
    activities = [event.activity for event in told if isinstance(event, Progress)]
    assert activities[0] is Activity.CALIBRATING


def test_a_budget_that_holds_no_block_is_refused_before_anything_is_measured(clock):
    machine, told = Nowhere(clock, SPEEDS), []
    asked = plan_for(PATHS, budget_s=2.0)
    for refuse in (
        lambda: runner.check_budget(asked, clock=clock),
        lambda: runner.run(asked, machine, told.append, clock=clock),
    ):
        with pytest.raises(InputError, match="--budget 2 s is too short"):
            refuse()
    assert machine.calibrated is None
    assert told == []


def test_the_refusal_of_a_budget_says_how_long_the_app_takes_to_load(clock):
    asked = plan_for(PATHS, budget_s=30.0, loading=PageTime(wall_s=18.0))
    with pytest.raises(InputError, match=r"too short: one block .* takes .*; the app takes 18 s to load"):
        runner.check_budget(asked, clock=clock)


# Several workloads


def test_every_stack_meets_every_workload_at_every_level_in_the_first_block(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10), workloads=(asking("a"), asking("b")))
    wanted = set(itertools.product(PATHS, ("a", "b"), (1, 10)))
    assert cells_of(finished) == wanted
    for launch in finished.launches:
        met = {(one.workload, one.load.concurrency) for one in launch.slices}
        assert met == (set(itertools.product("ab", (1, 10))) if launch.block == 0 else {("a", 10)})


def test_a_race_whose_stacks_all_fail_but_one_ends_as_soon_as_that_is_known(clock):
    machine = Nowhere(clock, SPEEDS, not_starting={"waitress", "cheroot"})
    finished, _ = race(clock, machine, PATHS, budget_s=1000.0)
    assert finished.ending is Ending.EXHAUSTED
    assert max(launch.block for launch in finished.launches) == _FAILED_LAUNCHES - 1


def test_a_workload_for_some_stacks_is_met_by_no_other(clock):
    workloads = (asking("all"), asking("one"))
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, workloads=workloads, limits={"one": ("cheroot",)})
    met = cells_of(finished)
    assert {stack for stack, name, _ in met if name == "one"} == {"cheroot"}
    assert {stack for stack, name, _ in met if name == "all"} == set(PATHS)


def test_a_stack_is_warmed_up_with_every_workload_it_meets(clock):
    machine = Nowhere(clock, SPEEDS)
    race(clock, machine, ["gunicorn"], workloads=(asking("a"), asking("b")))
    assert [name for _, name, _ in machine.warmed[:2]] == ["a", "b"]


def test_where_time_is_short_the_first_workload_at_the_highest_level_gets_most_of_it(clock):
    workloads = (asking("a"), asking("b"))
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10), workloads=workloads, budget_s=60.0)
    spent = {}
    for launch in finished.launches:
        for one in launch.slices:
            key = one.workload, one.load.concurrency
            spent[key] = spent.get(key, 0.0) + one.result.duration_s
    assert max(spent, key=spent.get) == ("a", 10)


def test_an_exhaustive_race_measures_all_levels_of_all_workloads_alike(clock):
    workloads = (asking("a"), asking("b"))
    for stacks, budget_s in ((PATHS, 60.0), (["gunicorn"], 40.0)):
        finished, _ = race(
            clock, Nowhere(clock, SPEEDS), stacks, levels=(1, 10), workloads=workloads, budget_s=budget_s,
            exhaustive=True,
        )  # fmt: skip
        for launch in finished.launches:
            spent = {}
            for one in launch.slices:
                spent.setdefault((one.workload, one.load.concurrency), []).append(one.result.duration_s)
            times = [len(lengths) for lengths in spent.values()]
            assert max(times) - min(times) <= 1, "the last pass may be cut short"


def test_the_budget_is_kept_with_many_cells_too(clock):
    workloads = tuple(asking(name) for name in "abcde")
    machine = Nowhere(clock, dict.fromkeys(PATHS, 1000))
    finished, _ = race(clock, machine, PATHS, levels=(1, 10), workloads=workloads, budget_s=100.0, difference=0.001)
    assert finished.ending is Ending.BUDGET
    assert 90 <= finished.elapsed_s <= 110


def test_a_single_stack_with_many_workloads_goes_on_until_its_budget_is_spent(clock):
    workloads = tuple(asking(name) for name in "abc")
    machine = Nowhere(clock, SPEEDS)
    finished, _ = race(clock, machine, ["gunicorn"], workloads=workloads, budget_s=200.0, exhaustive=True)
    assert finished.ending is Ending.BUDGET
    assert finished.elapsed_s >= 180
    assert {name for _, name, _ in cells_of(finished)} == {"a", "b", "c"}


def test_only_a_measurement_must_not_be_disturbed():
    assert [activity for activity in Activity if activity.must_not_be_disturbed] == [Activity.MEASURING]
