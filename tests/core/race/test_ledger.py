"""What the books know of a stack at fewer clients."""

import math
from dataclasses import replace
from types import SimpleNamespace

from tests.core.validity.healthy import counts, result
from tests.factories import make_failure, make_race
from tests.features.regression.checks import make_check

from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.measure.launch import FailureKind, Launch, Slice
from stackrace.measure.load import Load
from stackrace.race.ledger import Ledger
from stackrace.race.steps import Steps

VOID = Verdict((Finding(check="x", effect=Effect.INVALIDATES, seen="", threshold="", remedy=""),))


def slice_of(concurrency, ok, *, workload="", verdict=None, **load):
    seen = result(counts=counts(scheduled=ok + 20), duration_s=1.0)
    level = replace(Load(concurrency=concurrency), **load)
    return Slice(index=0, load=level, result=seen, usage=(), workload=workload, verdict=verdict or Verdict())


def ledger_of(*launches):
    ledger = Ledger(make_race(stacks=2, blocks=0, facts=()))
    for number, (stack, slices) in enumerate(launches):
        ledger.enter(Launch(id=str(number), block=number, stack=stack, slices=slices))
    return ledger


def test_the_next_lower_level_of_this_launch_counts():
    slices = (slice_of(1, 100), slice_of(10, 500), slice_of(10, 700), slice_of(100, 900))
    ledger = ledger_of(("a", (slice_of(10, 1),)), ("a", slices))
    assert ledger.throughput_below("1", "", Load(concurrency=100)) == 600
    assert ledger.throughput_below("1", "", Load(concurrency=10)) == 100
    assert ledger.throughput_below("1", "", Load(concurrency=1)) is None


def test_failing_that_other_launches_of_the_stack_do():
    ledger = ledger_of(("a", (slice_of(1, 100), slice_of(10, 400))), ("b", (slice_of(10, 900),)), ("a", ()))
    assert ledger.throughput_below("2", "", Load(concurrency=100)) == 400


def test_other_workloads_ways_of_connecting_and_void_slices_do_not_count():
    ledger = ledger_of(
        ("a", (slice_of(1, 1, workload="x"), slice_of(1, 2, keep_alive=False), slice_of(1, 3, verdict=VOID)))
    )
    assert ledger.throughput_below("0", "", Load(concurrency=10)) is None
    assert ledger.throughput_below("0", "x", Load(concurrency=10)) == 1


def test_a_side_of_a_check_that_was_not_ready_has_other_chances():
    slow = Launch(id="0", block=0, stack="a", failure=make_failure(kind=FailureKind.NOT_READY))
    for race, given_up in ((make_race(stacks=2, blocks=0, facts=()), True), (make_check(blocks=0), False)):
        ledger = Ledger(race)
        ledger.enter(slow)
        assert ledger.given_up("a") is given_up
        for number in (1, 2):
            ledger.enter(replace(slow, id=str(number), block=number))
        assert ledger.given_up("a") is given_up
        ledger.enter(replace(slow, id="3", block=3))
        assert ledger.given_up("a")


def test_another_chance_of_a_side_of_a_check_takes_no_longer_than_expected():
    for race, is_short in ((make_race(stacks=2, blocks=0, facts=()), False), (make_check(blocks=0), True)):
        ledger = Ledger(race)
        steps = Steps(number=1, place=None, ledger=ledger, sink=None, deadline_s=math.inf, start_s=5.0)
        assert steps._patience_s(SimpleNamespace(path="a")) == math.inf
        ledger.enter(Launch(id="0", block=0, stack="a", failure=make_failure()))
        assert (steps._patience_s(SimpleNamespace(path="a")) == 10.0) is is_short
