"""Races on a machine that measures nothing: real time passes nowhere."""

import itertools
import math
import random
from dataclasses import fields, replace

from tests.factories import make_race, make_result

from stackrace.app.app import App, Entry, EntryKind
from stackrace.deploy.machine import REST_LOOK_S, WARM_BIN_S, Launched, Retired
from stackrace.measure.host import Disturbance, MachineDelta
from stackrace.measure.launch import Failure, FailureKind
from stackrace.measure.load import Load
from stackrace.measure.resources import Resources
from stackrace.measure.workload import Workload
from stackrace.race.plan import RacePlan
from stackrace.race.results.race import Race
from stackrace.race.run import runner
from stackrace.race.run.lanes import OneLane
from stackrace.race.run.scheduling import FOR_THE_WINNER, ChosenCells, Scheduling
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack
from stackrace.stats.values import Question
from stackrace.validity.observation import Observation

CORES = Resources(stack_cores=(0,), generator_cores=(1,))
PATHS = ("gunicorn", "waitress", "cheroot")
SPEEDS = {"gunicorn": 1000, "waitress": 1500, "cheroot": 1010}


class Clock:
    """Time that passes only when the machine spends it."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Going:
    """Stacks that are gone some seconds after they were told to go."""

    def __init__(self, clock, stop_s):
        self.clock, self.stop_s, self.gone_s = clock, stop_s, clock.now + stop_s

    def finish(self):
        self.clock.now = max(self.clock.now, self.gone_s)
        return Retired(took_s=self.stop_s)


class Nowhere:
    """A machine whose stacks have given speeds; some fail as told."""

    def __init__(self, clock, speeds, *, not_starting=(), dying=(), interrupt_after=None, stop_s=1.0):
        self.clock, self.speeds, self.stop_s, self.launch_s = clock, speeds, stop_s, 1.0
        self.not_starting, self.dying = set(not_starting), set(dying)
        self.up, self.noise = [], random.Random(1)
        self.loads = itertools.count(1)
        self.interrupt_after = interrupt_after
        self.rest_s = REST_LOOK_S
        self.calibrated = None
        self.next_launch_s = lambda: 1.0
        self.seen, self.warmed = [], []
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

    def rest(self, limit_s=math.inf):
        self.clock.now += min(self.rest_s, limit_s)

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
            machine=MachineDelta(
                elapsed_s=1.0, cores=2, busy_s=0.0, own_s=0.0, stack_cores=1, stack_cores_steal_s=0.25
            ),
            cores=CORES,
        )

    def warm_up(self, stack, workload, load, enough):
        if next(self.loads) == self.interrupt_after:
            raise KeyboardInterrupt
        assert stack in self.up
        counts = []
        while len(counts) * WARM_BIN_S < load.duration_s and not enough(counts):
            counts.append(round(self.speeds[stack.path] * WARM_BIN_S))
        self.warmed.append((stack.path, workload.name, load))
        self.clock.now += len(counts) * WARM_BIN_S
        return len(counts) * WARM_BIN_S

    def disturbance(self):
        self.clock.now += 0.3
        return Disturbance()

    def failure_of(self, stack):
        return Failure(kind=FailureKind.DIED, message="dead") if stack.path in self.dying else None

    def retire(self, stacks):
        self.launch_s = self.next_launch_s()
        self.up = [stack for stack in self.up if stack not in stacks]
        return Going(self.clock, self.stop_s)


def plan_for(paths, *, budget_s=120.0, levels=(10,), run=None, **changes):
    """Plan a race of ``paths``; ``run`` holds the length of a run, ``changes`` fields of the race and its plan."""
    stacks = tuple(parse_stack(path, catalogue().specs, frozenset(Interface)) for path in paths)
    loads = tuple(Load(concurrency=level, **(run or {})) for level in levels)
    names = {each.name for each in fields(Race)} - {"app", "stacks", "twin", "workloads"}
    asked = {"question": Question.WINNER, "loads": loads, "cores": CORES, "seed": 1} | {
        name: changes.pop(name) for name in names & changes.keys()
    }
    workloads = changes.setdefault("workloads", (asking(""),))
    race = replace(
        make_race(stacks=[stack.path for stack in stacks], levels=levels, blocks=0, ending=None),
        budget_s=budget_s or 0.0, facts=(),
        workloads={one.name: ("/",) for one in workloads if one.name}, **asked,
    )  # fmt: skip
    return RacePlan(
        race=race,
        app=App(name="none", root=".", entry=Entry(kind=EntryKind.WSGI, target="a:b"), python="python"),
        stacks=stacks,
        **{"twin": False} | changes,
    )


class Deciding(Scheduling):
    """Rules of a race that a function decides."""

    def __init__(self, decide):
        self.decide = decide


def race(clock, machine, paths, *, levels=(10,), choose=None, decide=None, lanes=OneLane, **plan):
    """Race ``paths`` with the rules of ``choose`` or ``decide``; ``plan`` is as ``plan_for`` takes it."""
    asked = plan_for(paths, levels=levels, **plan)
    rules = ChosenCells(choose) if choose else Deciding(decide) if decide else FOR_THE_WINNER
    told = []
    finished = runner.run(asked, machine, told.append, scheduling=rules, lanes=lanes, clock=clock)
    return finished, told


def asking(name):
    """A workload without requests: nothing is sent."""
    return Workload(requests=(), answers=(), name=name)


def cells_of(race):
    """What was measured: stack, workload and concurrency of every slice."""
    return {(launch.stack, one.workload, one.load.concurrency) for launch in race.launches for one in launch.slices}
