"""What the books know of a stack at fewer clients."""

from dataclasses import replace

from tests.core.validity.healthy import counts, result
from tests.factories import make_race

from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.measure.launch import Launch, Slice
from stackrace.measure.load import Load
from stackrace.race.run.ledger import Ledger

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
