"""The race's own logic, on a place that measures nothing: real time passes nowhere."""

import itertools
import math
import random
from dataclasses import replace

import pytest
from tests.factories import make_race, make_result

from stackrace.checks import Observation
from stackrace.deploy.place import REST_LOOK_S, Launched, Retired
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
from stackrace.race import runs as runs_module
from stackrace.race.events import (
    BlockStarted,
    LaunchEnded,
    LaunchStarted,
    Progress,
    RaceEnded,
    RaceStarted,
    SliceEnded,
)
from stackrace.race.ledger import FAILED_LAUNCHES
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
        self.rest_s = REST_LOOK_S
        self.calibrated = None
        self.next_launch_s = lambda: 1.0
        self.seen = []
        self.launches = []
        self.room, self.sizes = math.inf, {}

    def calibrate(self, loads):
        self.clock.now += 0.3 * len(loads)
        self.calibrated = tuple(loads)

    def room_bytes(self):
        return self.room

    def launch(self, stack, timeout_s):
        assert self.calibrated is not None
        self.clock.now += self.launch_s
        if stack.path in self.not_starting:
            return Launched(failure=Failure(kind=FailureKind.NOT_STARTED, message="no"))
        assert stack not in self.up
        self.up.append(stack)
        self.launches.append((stack.path, len(self.up)))
        return Launched(ready_s=1.0, memory_bytes=self.sizes.get(stack.path, 0))

    def rest(self):
        self.clock.now += self.rest_s

    def load(self, stack, workload, load, rewarm_s, limit_s=math.inf):
        if next(self.loads) == self.interrupt_after:
            raise KeyboardInterrupt
        assert stack in self.up
        self.seen.append((stack.path, workload.name, load, rewarm_s, limit_s))
        self.clock.now += (load.duration_s or load.requests / self.speeds[stack.path]) + rewarm_s
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


def plan_for(paths, *, budget_s=120.0, levels=(10,), seed=1, question=Question.WINNER, run=None, **plan):
    """Plan a race of ``paths``; ``run`` holds the length of a run, ``plan`` further fields of the plan."""
    stacks = tuple(parse_stack(path, catalogue().specs, frozenset(Interface)) for path in paths)
    loads = tuple(Load(concurrency=level, **(run or {})) for level in levels)
    asked = RacePlan(
        id="0" * 13,
        app=App(name="none", root=".", entry=Entry(kind=EntryKind.WSGI, target="a:b"), python="python"),
        workloads=(asking(""),),
        stacks=stacks,
        loads=loads,
        question=question,
        difference=0.05,
        budget_s=budget_s,
        cores=CORES,
        seed=seed,
        twin=False,
    )
    return replace(asked, **plan)


def race(clock, place, paths, *, levels=(10,), **plan):
    """Race ``paths``; ``plan`` is as ``plan_for`` takes it."""
    asked = plan_for(paths, levels=levels, **plan)
    told = []
    begun = make_race(stacks=list(paths), levels=levels, blocks=0, ending=None)
    begun = replace(
        begun, repeats=asked.repeats, exhaustive=asked.exhaustive, limits=asked.limits,
        question=asked.question, difference=asked.difference, facts=(),
        workloads={one.name: ("/",) for one in asked.workloads if one.name},
    )  # fmt: skip
    finished = runner.run(asked, begun, place, told.append, clock=clock)
    return finished, told


def asking(name):
    """A workload without requests: nothing is sent."""
    return Workload(requests=(), answers=(), name=name)


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


def test_no_slice_outlasts_the_budget_however_long_stacks_take_to_rest(clock):
    place = Nowhere(clock, SPEEDS)
    place.rest_s = 3.0
    finished, _ = race(clock, place, PATHS, budget_s=100)
    assert finished.ending is Ending.BUDGET
    assert finished.elapsed_s <= 100 + place.rest_s


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
    assert len(failed) == FAILED_LAUNCHES
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


# Several workloads


def cells_of(race):
    return {(launch.stack, one.workload, one.load.concurrency) for launch in race.launches for one in launch.slices}


def test_every_stack_meets_every_workload_at_every_level_in_every_block(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10), workloads=(asking("a"), asking("b")))
    wanted = set(itertools.product(PATHS, ("a", "b"), (1, 10)))
    assert cells_of(finished) == wanted
    for launch in finished.launches:
        assert {(one.workload, one.load.concurrency) for one in launch.slices} == {
            (name, level) for name in ("a", "b") for level in (1, 10)
        }


def test_a_workload_for_some_stacks_is_met_by_no_other(clock):
    workloads = (asking("all"), asking("one"))
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, workloads=workloads, limits={"one": ("cheroot",)})
    met = cells_of(finished)
    assert {stack for stack, name, _ in met if name == "one"} == {"cheroot"}
    assert {stack for stack, name, _ in met if name == "all"} == set(PATHS)


def test_a_stack_is_warmed_up_with_every_workload_it_meets(clock):
    place = Nowhere(clock, SPEEDS)
    race(clock, place, ["gunicorn"], workloads=(asking("a"), asking("b")))
    first = [(name, rewarm_s) for _, name, _, rewarm_s, _ in place.seen]
    recorded = next(index for index, (_, rewarm_s) in enumerate(first) if rewarm_s)
    assert {name for name, _ in first[:recorded]} == {"a", "b"}


def test_where_time_is_short_the_first_workload_at_the_highest_level_gets_most_of_it(clock):
    workloads = (asking("a"), asking("b"))
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10), workloads=workloads, budget_s=60.0)
    spent = {}
    for launch in finished.launches:
        for one in launch.slices:
            key = one.workload, one.load.concurrency
            spent[key] = spent.get(key, 0.0) + one.result.duration_s
    assert max(spent, key=spent.get) == ("a", 10)


def test_the_budget_is_kept_with_many_cells_too(clock):
    workloads = tuple(asking(name) for name in "abcde")
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10), workloads=workloads, budget_s=100.0)
    assert finished.ending is Ending.BUDGET
    assert 90 <= finished.elapsed_s <= 110


def test_a_budget_that_holds_no_block_tells_how_many_workloads_there_are(clock):
    with pytest.raises(InputError, match="3 stacks with 2 workloads at 1 load level needs"):
        race(clock, Nowhere(clock, SPEEDS), PATHS, workloads=(asking("a"), asking("b")), budget_s=5.0)


def test_an_exhaustive_race_spends_its_budget_however_clear_the_answer_is(clock):
    speeds = {"gunicorn": 1000, "waitress": 3000, "cheroot": 500}
    finished, _ = race(clock, Nowhere(clock, speeds), PATHS, budget_s=300.0, exhaustive=True)
    assert finished.ending is Ending.BUDGET
    assert finished.elapsed_s >= 270
    counted = [sum(launch.stack == path for launch in finished.launches) for path in PATHS]
    assert len(set(counted)) == 1


def test_a_single_stack_with_many_workloads_goes_on_until_its_budget_is_spent(clock):
    workloads = tuple(asking(name) for name in "abc")
    place = Nowhere(clock, SPEEDS)
    finished, _ = race(clock, place, ["gunicorn"], workloads=workloads, budget_s=200.0, exhaustive=True)
    assert finished.ending is Ending.BUDGET
    assert finished.elapsed_s >= 180
    assert {name for _, name, _ in cells_of(finished)} == {"a", "b", "c"}


# Runs


def test_every_run_is_made_cold_and_whole_on_a_launch_of_its_own(clock):
    place = Nowhere(clock, SPEEDS)
    finished, _ = race(
        clock, place, PATHS, levels=(1, 10), workloads=(asking("a"), asking("b")), repeats=3,
        run={"requests": 500}, budget_s=None,
    )  # fmt: skip
    assert finished.ending is Ending.COMPLETED
    assert len(finished.launches) == 3 * len(PATHS) * 2 * 2
    assert all(len(launch.slices) == 1 for launch in finished.launches)
    assert all(launch.warmup_s == 0 for launch in finished.launches)
    # nothing but the runs themselves was sent, and no other stack was up meanwhile
    assert [load.requests for _, _, load, _, _ in place.seen] == [500] * len(finished.launches)
    assert {rewarm_s for *_, rewarm_s, _ in place.seen} == {0.0}
    assert {up for _, up in place.launches} == {1}
    for block in range(3):
        made = [launch for launch in finished.launches if launch.block == block]
        cells = [(one.stack, one.slices[0].workload, one.slices[0].load.concurrency) for one in made]
        assert sorted(cells) == sorted(itertools.product(PATHS, ("a", "b"), (1, 10)))


def test_runs_come_in_an_order_of_their_own_in_every_block_and_the_seed_repeats_it(clock):
    def order():
        place = Nowhere(clock, SPEEDS)
        race(clock, place, PATHS, levels=(1, 10), repeats=4, run={"duration_s": 2.0}, budget_s=None)
        return [(path, load.concurrency) for path, _, load, _, _ in place.seen]

    first = order()
    assert first == order()
    assert len({tuple(first[i : i + 6]) for i in range(0, 24, 6)}) > 1


def test_runs_are_all_made_however_clear_the_answer_is(clock):
    speeds = {"gunicorn": 1000, "waitress": 9000, "cheroot": 100}
    finished, _ = race(clock, Nowhere(clock, speeds), PATHS, repeats=9, run={"requests": 100}, budget_s=None)
    assert finished.ending is Ending.COMPLETED
    assert len(finished.launches) == 27


def test_a_budget_bounds_runs(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, repeats=50, run={"duration_s": 5.0}, budget_s=60.0)
    assert finished.ending is Ending.BUDGET
    assert 60 <= finished.elapsed_s <= 75
    assert finished.launches


def test_a_run_that_is_counted_in_requests_is_cut_off_some_time(clock):
    place = Nowhere(clock, SPEEDS)
    race(clock, place, PATHS, repeats=1, run={"requests": 100}, budget_s=None)
    assert {limit_s for *_, limit_s in place.seen} == {runs_module.RUN_LIMIT_S}
    place = Nowhere(clock, SPEEDS)
    race(clock, place, PATHS, repeats=1, run={"requests": 100}, budget_s=60.0)
    assert all(0 < limit_s <= 60 for *_, limit_s in place.seen)


def test_a_run_that_was_cut_off_says_so(clock):
    class Hanging(Nowhere):
        def load(self, stack, workload, load, rewarm_s, limit_s=math.inf):
            seen = super().load(stack, workload, load, rewarm_s, limit_s)
            return replace(seen, result=replace(seen.result, duration_s=limit_s))

    finished, _ = race(clock, Hanging(clock, SPEEDS), ["gunicorn"], repeats=1, run={"requests": 100}, budget_s=None)
    ((run,),) = (launch.slices for launch in finished.launches)
    assert "run cut off" in [finding.check for finding in run.verdict.findings]


def test_a_stack_that_does_not_start_is_not_tried_at_every_cell(clock):
    place = Nowhere(clock, SPEEDS, not_starting={"waitress"})
    finished, _ = race(clock, place, PATHS, levels=(1, 5, 10), repeats=3, run={"requests": 100}, budget_s=None)
    assert sum(launch.stack == "waitress" for launch in finished.launches) == FAILED_LAUNCHES
    assert sum(launch.stack == "gunicorn" for launch in finished.launches) == 9
    assert finished.ending is Ending.COMPLETED


def test_a_stack_that_dies_in_a_run_is_launched_again_for_the_next(clock):
    place = Nowhere(clock, SPEEDS, dying={"cheroot"})
    finished, _ = race(clock, place, PATHS, levels=(1, 10), repeats=2, run={"requests": 100}, budget_s=None)
    dead = [launch for launch in finished.launches if launch.stack == "cheroot"]
    assert len(dead) == 4
    assert all(launch.failure.kind is FailureKind.DIED and launch.slices for launch in dead)
    assert place.up == []


def test_runs_that_are_interrupted_keep_what_was_measured_and_stop_everything(clock):
    place = Nowhere(clock, SPEEDS, interrupt_after=5)
    finished, told = race(clock, place, PATHS, repeats=3, run={"requests": 100}, budget_s=None)
    assert finished.ending is Ending.INTERRUPTED
    assert sum(bool(launch.slices) for launch in finished.launches) == 4
    assert place.up == []
    assert isinstance(told[-1], RaceEnded)


def test_events_tell_of_all_runs(clock):
    finished, told = race(clock, Nowhere(clock, SPEEDS), PATHS, repeats=2, run={"requests": 100}, budget_s=None)
    assert [event.block for event in told if isinstance(event, BlockStarted)] == [0, 1]
    ended = [event.launch.id for event in told if isinstance(event, LaunchEnded)]
    assert ended == [launch.id for launch in finished.launches]
    phases = {event.phase for event in told if isinstance(event, Progress)}
    assert "warming up" not in phases
