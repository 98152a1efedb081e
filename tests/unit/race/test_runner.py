"""The race's own logic, on a place that measures nothing: real time passes nowhere."""

import itertools
import random

import pytest
from tests.factories import make_race, make_result

from stackrace.checks import Observation
from stackrace.deploy.place import Launched, Retired
from stackrace.model.app import App, Entry, EntryKind
from stackrace.model.errors import InputError
from stackrace.model.host import MachineDelta
from stackrace.model.launch import Failure, FailureKind
from stackrace.model.load import Load
from stackrace.model.race import Budget, Ending, Question, RacePlan
from stackrace.model.stack import Interface
from stackrace.model.workload import Workload
from stackrace.race import block as block_module
from stackrace.race import runner
from stackrace.race.events import LaunchEnded, LaunchStarted, Progress, RaceEnded, RaceStarted, SliceEnded
from stackrace.servers import catalogue
from stackrace.spec.stack_path import parse_stack

CORES = Budget(stack_cores=(0,), generator_cores=(1,))


class Clock:
    """Time that passes only when the place spends it."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Nowhere:
    """A place whose stacks have given speeds; some fail as told."""

    def __init__(self, clock, speeds, *, not_starting=(), dying=(), interrupt_after=None, stop_s=1.0):
        self.clock, self.speeds, self.stop_s, self.launch_s = clock, speeds, stop_s, 1.0
        self.not_starting, self.dying = set(not_starting), set(dying)
        self.up, self.noise = [], random.Random(1)
        self.loads = itertools.count(1)
        self.interrupt_after = interrupt_after
        self.calibrated = None
        self.next_launch_s = lambda: 1.0

    def calibrate(self, loads):
        self.clock.now += 0.3 * len(loads)
        self.calibrated = tuple(loads)

    def launch(self, stack, timeout_s):
        assert self.calibrated is not None
        self.clock.now += self.launch_s
        if stack.path in self.not_starting:
            return Launched(failure=Failure(kind=FailureKind.NOT_STARTED, message="no"))
        self.up.append(stack)
        return Launched(ready_s=1.0)

    def load(self, stack, load, rewarm_s):
        if next(self.loads) == self.interrupt_after:
            raise KeyboardInterrupt
        self.clock.now += load.duration_s + rewarm_s
        speed = self.speeds[stack.path] * self.noise.lognormvariate(0, 0.02)
        return Observation(
            stack=stack,
            load=load,
            result=make_result(speed, load=load),
            usage=(),
            machine=MachineDelta(elapsed_s=1.0, cores=2, busy_s=0.0, own_s=0.0),
            cores=CORES,
        )

    def failure_of(self, stack):
        return Failure(kind=FailureKind.DIED, message="dead") if stack.path in self.dying else None

    def retire(self, stacks):
        self.clock.now += self.stop_s
        self.launch_s = self.next_launch_s()
        self.up = [stack for stack in self.up if stack not in stacks]
        return Retired()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(block_module.time, "monotonic", clock)
    return clock


def race(clock, place, paths, *, budget_s=120.0, levels=(10,), seed=1, question=Question.WINNER):
    stacks = tuple(parse_stack(path, catalogue().specs, frozenset(Interface)) for path in paths)
    loads = tuple(Load(concurrency=level) for level in levels)
    plan = RacePlan(
        id="0" * 13,
        app=App(name="none", root=".", entry=Entry(kind=EntryKind.WSGI, target="a:b"), python="python"),
        workload=Workload(requests=(), answers=()),
        stacks=stacks,
        loads=loads,
        question=question,
        difference=0.05,
        budget_s=budget_s,
        cores=CORES,
        seed=seed,
    )
    told = []
    begun = make_race(stacks=list(paths), blocks=0, ending=None)
    finished = runner.run(plan, begun, place, told.append, clock=clock)
    return finished, told


PATHS = ("gunicorn", "waitress", "cheroot")
SPEEDS = {"gunicorn": 1000, "waitress": 1500, "cheroot": 1010}


def test_the_budget_is_kept_and_filled(clock):
    for budget_s in (40.0, 60.0, 200.0):
        finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, budget_s=budget_s, levels=(1, 10))
        assert finished.elapsed_s <= 1.1 * budget_s
        if finished.ending is Ending.BUDGET:
            assert finished.elapsed_s >= 0.9 * budget_s


@pytest.mark.parametrize("stop_s", [0.5, 3.0, 8.0])
def test_a_budget_is_filled_however_long_stopping_takes(clock, stop_s):
    """What is left after a block is either enough for another one or was used up in it, on a machine with moods."""
    alike = dict.fromkeys(PATHS, 1000)
    moods = random.Random(7)
    for budget_s in range(80, 200, 2):
        place = Nowhere(clock, alike, stop_s=stop_s)
        place.next_launch_s = lambda: moods.uniform(0.5, 3.0)
        finished, _ = race(clock, place, PATHS, budget_s=budget_s, levels=(1, 5, 10))
        if finished.ending is Ending.BUDGET:
            assert 0.9 * budget_s <= finished.elapsed_s <= 1.1 * budget_s, budget_s


def test_every_block_launches_every_stack_in_an_order_of_its_own(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS)
    blocks = {}
    for launch in finished.launches:
        blocks.setdefault(launch.block, []).append(launch.stack)
    assert len(blocks) >= 3
    assert all(sorted(order) == sorted(PATHS) for order in blocks.values())
    assert len({tuple(order) for order in blocks.values()}) > 1


def test_the_same_seed_gives_the_same_order(clock):
    orders = [
        [launch.stack for launch in race(clock, Nowhere(clock, SPEEDS), PATHS, seed=5)[0].launches]
        for _ in range(2)
    ]
    assert orders[0] == orders[1]


def test_a_clear_winner_ends_the_race_early(clock):
    speeds = {"gunicorn": 1000, "waitress": 3000, "cheroot": 1100}
    finished, _ = race(clock, Nowhere(clock, speeds), PATHS, budget_s=3000)
    assert finished.ending is Ending.ANSWERED
    assert finished.elapsed_s < 1500


def test_a_stack_that_never_starts_is_given_up_and_the_race_goes_on(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS, not_starting={"waitress"}), PATHS)
    failed = [launch for launch in finished.launches if launch.stack == "waitress"]
    assert len(failed) == runner.FAILED_LAUNCHES
    assert all(launch.failure.kind is FailureKind.NOT_STARTED for launch in failed)
    assert sum(launch.stack == "gunicorn" for launch in finished.launches) >= 3


def test_a_stack_that_dies_keeps_what_it_had(clock):
    place = Nowhere(clock, SPEEDS, dying={"cheroot"})
    finished, _ = race(clock, place, PATHS)
    dead = [launch for launch in finished.launches if launch.stack == "cheroot"]
    assert dead
    assert all(launch.failure.kind is FailureKind.DIED for launch in dead)
    assert place.up == []


def test_when_nothing_is_left_the_race_ends(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS, not_starting=set(PATHS)), PATHS)
    assert finished.ending is Ending.EXHAUSTED


def test_an_interruption_keeps_what_was_measured_and_stops_everything(clock):
    place = Nowhere(clock, SPEEDS, interrupt_after=12)
    finished, told = race(clock, place, PATHS)
    assert finished.ending is Ending.INTERRUPTED
    assert any(launch.slices for launch in finished.launches)
    assert isinstance(told[-1], RaceEnded)
    assert place.up == []


def test_events_tell_the_whole_race(clock):
    finished, told = race(clock, Nowhere(clock, SPEEDS), PATHS)
    assert isinstance(told[0], RaceStarted)
    started = [event.launch.id for event in told if isinstance(event, LaunchStarted)]
    ended = [event.launch.id for event in told if isinstance(event, LaunchEnded)]
    assert sorted(started) == sorted(ended) == sorted(launch.id for launch in finished.launches)
    slices = [event.slice for event in told if isinstance(event, SliceEnded)]
    assert [one.index for one in slices] == list(range(len(slices)))


def test_a_budget_that_holds_no_block_is_refused(clock):
    with pytest.raises(InputError, match="--budget 2 s is too short"):
        race(clock, Nowhere(clock, SPEEDS), PATHS, budget_s=2.0)


def test_the_engine_is_calibrated_at_every_level_before_the_first_launch_and_within_the_budget(clock):
    place = Nowhere(clock, SPEEDS)
    finished, told = race(clock, place, PATHS, levels=(1, 10, 100))
    assert [load.concurrency for load in place.calibrated] == [1, 10, 100]
    assert finished.elapsed_s == pytest.approx(clock.now - 1000.0)
    phases = [event.phase for event in told if isinstance(event, Progress)]
    assert phases[0] == "calibrating the load engine"


def test_a_budget_that_holds_no_block_is_refused_before_anything_is_measured(clock):
    place = Nowhere(clock, SPEEDS)
    with pytest.raises(InputError):
        race(clock, place, PATHS, budget_s=2.0)
    assert place.calibrated is None
