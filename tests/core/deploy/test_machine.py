"""Machines: two variants of one stack on two of them as one machine, and what each knows of the others."""

from dataclasses import dataclass, field

import pytest

from stackrace.deploy.machine import Launched, RaceProcesses, Retired, Sides
from stackrace.measure.launch import Failure, FailureKind, StackFacts
from stackrace.measure.load import Load
from stackrace.measure.workload import Workload
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack import Side, original_path, side_of, side_path, twin_path, without_side
from stackrace.stacks.stack_path import parse_stack


@dataclass
class Seen:
    """As much of an observation as sides look at."""

    stack: object
    changing: tuple[str, ...]


@dataclass
class Scripted:
    """A machine that writes down what it is asked for."""

    name: str
    heard: list = field(default_factory=list)
    changing: tuple[str, ...] = ()

    def load(self, stack, workload, load, rewarm_s, limit_s, meanwhile):
        if meanwhile:
            meanwhile(self.name)
        return Seen(stack.path, self.changing)

    def launch(self, stack, timeout_s):
        self.heard.append(stack.path)
        return Launched(facts=StackFacts(stack=stack.path), ready_s=0.1)

    def warm_up(self, stack, workload, load, enough):
        self.heard.append((stack.path, workload))
        return 0.5

    def retire(self, stacks):
        failure = Failure(kind=FailureKind.DIED, message=self.name, log="")
        done = Retired(complaints={stack.path: failure for stack in stacks}, took_s=len(stacks))

        class Going:
            def finish(self):
                return done

        return Going()


@pytest.fixture
def stack():
    return parse_stack("gunicorn", catalogue().specs, frozenset({Interface.WSGI}))


def test_a_side_is_part_of_the_name_and_a_twin_keeps_it():
    path = side_path("gunicorn:workers=2", Side.HEAD)
    assert (side_of(path), without_side(path)) == (Side.HEAD, "gunicorn:workers=2")
    twin = twin_path(path)
    assert side_of(twin) is Side.HEAD
    assert without_side(twin) == twin_path("gunicorn:workers=2")
    assert side_path(without_side(twin), Side.HEAD) == twin
    assert original_path(twin) == path
    assert side_of("gunicorn") is None
    assert without_side("gunicorn") == "gunicorn"


def test_each_stack_is_launched_on_the_place_of_its_side_by_its_plain_name(stack):
    base, head = Scripted("base"), Scripted("head")
    sides = Sides({Side.BASE: base, Side.HEAD: head})
    launched = sides.launch(stack.on(Side.HEAD), 1.0)
    assert (base.heard, head.heard) == ([], ["gunicorn"])
    assert launched.facts.stack == "gunicorn#head"


def test_each_side_is_asked_for_its_own_form_of_a_workload(stack):
    theirs, ours = Workload(requests=(), answers=()), Workload(requests=(), answers=(), cookies=True)
    base, head = Scripted("base"), Scripted("head")
    sides = Sides({Side.BASE: base, Side.HEAD: head}, {Side.HEAD: [ours]})
    for side in (Side.BASE, Side.HEAD):
        sides.warm_up(stack.on(side), theirs, Load(concurrency=1), lambda counts: True)
    assert (base.heard, head.heard) == ([("gunicorn", theirs)], [("gunicorn", ours)])


def test_what_became_of_stopped_stacks_is_told_by_their_names_in_the_race(stack):
    sides = Sides({side: Scripted(side) for side in (Side.BASE, Side.HEAD)})
    retired = sides.retire([stack.on(Side.HEAD), stack.on(Side.HEAD).twin, stack.on(Side.BASE)]).finish()
    assert {name: failure.message for name, failure in retired.complaints.items()} == {
        "gunicorn#head": "head",
        "gunicorn#head#twin": "head",
        "gunicorn#base": "base",
    }
    assert retired.took_s == 2


def test_a_place_alone_has_no_others():
    processes = RaceProcesses()
    processes.join(10, {"postgresql": (11,)})
    processes.is_up(10, {"gunicorn": [12]})
    assert processes.others(10) == {}
    assert processes.supervisors == [10]


def test_what_is_up_and_served_elsewhere_is_known_under_names_that_no_stack_has():
    processes = RaceProcesses()
    processes.join(10, {"postgresql": (11,)})
    processes.join(20, {"postgresql": (21,)})
    processes.is_up(20, {"gunicorn": [22, 23]})
    assert processes.others(10) == {"20/postgresql": (21,), "20/gunicorn": [22, 23]}
    processes.is_up(20, {})
    assert processes.others(10) == {"20/postgresql": (21,)}
    assert processes.others(20) == {"10/postgresql": (11,)}


def test_an_incident_happens_to_the_stack_of_its_side(stack):
    sides, seen = Sides({side: Scripted(side) for side in (Side.BASE, Side.HEAD)}), []
    nothing = Workload(requests=(), answers=())
    sides.load(stack.on(Side.HEAD), nothing, Load(concurrency=1), 0.0, meanwhile=seen.append)
    assert seen == [Side.HEAD]


def test_a_page_that_changes_in_one_sides_app_is_searched_for_in_the_others_once(stack):
    searched = []
    machines = {Side.BASE: Scripted("base"), Side.HEAD: Scripted("head", changing=("GET /p",))}
    sides = Sides(machines, search=lambda side, pages: searched.append((side, pages)))
    for side in (Side.BASE, Side.HEAD, Side.HEAD):
        sides.load(stack.on(side), Workload(requests=(), answers=()), Load(concurrency=1), 0.0)
    assert searched == [(Side.HEAD, ["GET /p"])]
