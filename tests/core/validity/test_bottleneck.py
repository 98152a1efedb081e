"""Where the time of answers goes, decided from one slice."""

from dataclasses import replace

import pytest

from stackrace.measure.launch import Bottleneck, BottleneckKind, HopUsage
from stackrace.measure.probe import ThreadWaits
from stackrace.measure.resources import Resources
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack
from stackrace.validity.bottleneck import agreed, bottleneck

from .healthy import counts, healthy, load, machine, quantiles, result

TWO_CORES = Resources(stack_cores=(0, 1), generator_cores=(2,))
WAIT_S = 0.3
GTHREAD = "gunicorn:class=gthread,workers=1,threads=8"


def used(**cpu_s):
    return tuple(HopUsage(hop=hop, cpu_s=s, processes=1, threads=1, pss_bytes=1) for hop, s in cpu_s.items())


def seen(path=GTHREAD, *, at_once=8.0, connections=20, cpu=None, threads=None, **changes):
    """A slice of twenty seconds of a page of 0.3 s, of which so many requests are served at once."""
    answers = round(20 * at_once / WAIT_S)
    stack = parse_stack(path, catalogue().specs, frozenset(Interface))
    return healthy(
        stack=stack,
        load=load(concurrency=connections),
        result=result(
            counts=counts(scheduled=answers + 20),
            duration_s=20.0,
            latency=quantiles(p50=connections * WAIT_S / at_once),
            generator_busy=0.1,
        ),
        usage=used(**(cpu or {stack.hops[-1].server: 0.1})),
        cores=TWO_CORES,
        page_s=changes.pop("page_s", WAIT_S),
        stack_wait_s=changes.pop("stack_wait_s", 0.0),
        threads=None if threads is None else ThreadWaits(**threads),
        machine=changes.pop("machine", machine()),
        **changes,
    )


def place(observation):
    found = bottleneck(observation)
    return found and (found.kind, found.name or found.unit, found.places)


CPU, SERVICE, DATABASE, LOCK, WAITING, SHORT = BottleneckKind


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ({"cpu": {"nginx": 1.0, "gunicorn": 2.6}, "path": "nginx/http/" + GTHREAD}, (CPU, "gunicorn", None)),
        ({"cpu": {"gunicorn": 1.0, "postgresql": 2.8}}, (SERVICE, "postgresql", None)),
        ({"cpu": {"gunicorn": 1.95}}, (CPU, "gunicorn", 1)),
        ({"threads": {"database": 7.7, "other": 0.3}}, (DATABASE, "thread", 8)),
        ({"threads": {"lock": 7.0, "other": 1.0}, "at_once": 1.0}, (LOCK, "thread", 8)),
        ({}, (WAITING, "thread", 8)),
        ({"at_once": 4.0, "connections": 4}, (WAITING, "connection", 4)),
        ({"path": "gunicorn:workers=4", "at_once": 4.0}, (WAITING, "process", 4)),
        ({"path": "uvicorn:workers=1", "at_once": 20.0}, (WAITING, "connection", 20)),
        ({"path": "uvicorn:workers=1", "at_once": 1.0}, (WAITING, "process", 1)),
        ({"at_once": 5.0, "threads": {"other": 5.0}}, (SHORT, "thread", 8)),
    ],
)
def test_the_figures_say_where_the_time_goes(what, expected):
    assert place(seen(**what)) == expected


@pytest.mark.parametrize(
    "what",
    [
        pytest.param({"cpu": {"gunicorn": 1.4, "nginx": 1.4}}, id="neither busy nor idle"),
        pytest.param({"at_once": 6.8}, id="neither all nor too few"),
        pytest.param({"at_once": 30.0}, id="more at once than connections"),
        pytest.param({"path": "uvicorn:workers=1", "at_once": 9.0}, id="a pool that nobody declared"),
        pytest.param({"page_s": 8.0}, id="fewer than three rounds of answers"),
        pytest.param({"at_once": 5.0, "stack_wait_s": 4.0}, id="threads waited for a core"),
        pytest.param({"pauses": True}, id="visitors think"),
    ],
)
def test_nothing_is_said_if_the_figures_do_not_decide(what):
    assert bottleneck(seen(**what)) is None


def test_a_short_slice_may_have_caught_a_round_more_or_less():
    waits = seen()
    for rounds in (5, 6, 7, 8):
        caught = replace(waits.result, counts=counts(scheduled=8 * rounds + 20), duration_s=2.0)
        assert place(replace(waits, result=caught)) == (WAITING, "thread", 8)


def test_requests_that_nobody_waits_for_any_more_are_served_too():
    late = seen(at_once=5.0)
    usual = replace(late.result, latency=quantiles(p50=20 * WAIT_S / 8))
    failed = replace(late.result, counts=counts(timed_out=10, scheduled=350))
    assert bottleneck(replace(late, result=usual)) is None
    assert bottleneck(replace(late, result=failed)) is None


def test_a_busy_engine_may_be_the_limit():
    waits = seen()
    assert bottleneck(replace(waits, result=replace(waits.result, generator_busy=0.8))) is None


def test_delayed_acknowledgements_have_a_check_of_their_own():
    slow = result(counts=counts(scheduled=1000), latency=quantiles(p50=0.042))
    waits = seen(threads={"lock": 7.0, "other": 1.0}, machine=machine(delayed_acks=1000))
    assert bottleneck(replace(waits, result=slow, page_s=0.002)) is None


def test_threads_without_a_request_wait_at_a_lock_too():
    idle = {"lock": 6.0, "other": 2.0}
    assert place(seen(threads=idle, at_once=1.5, connections=2)) == (SHORT, "connection", 2)
    uneven = "gunicorn:class=gthread,workers=2,threads=4"
    assert place(seen(uneven, threads={"lock": 4.0, "other": 4.0}, at_once=4.0)) == (SHORT, "thread", 8)


def test_threads_beside_an_event_loop_may_be_idle_at_a_lock():
    pool = {"lock": 8.0, "other": 2.0}
    assert place(seen("uvicorn:workers=1", threads=pool, at_once=1.0)) == (WAITING, "process", 1)


def test_a_lock_that_nobody_holds_is_none():
    assert place(seen(threads={"lock": 8.0, "other": 0.1}, at_once=1.0)) == (SHORT, "thread", 8)


def test_threads_of_a_busy_process_wait_for_its_next_request_not_for_a_lock():
    quick = replace(seen(threads={"lock": 6.0, "other": 2.0}, cpu={"gunicorn": 1.4}), page_s=0.001)
    assert bottleneck(quick) is None


def test_without_the_page_s_own_time_only_threads_tell():
    quick = replace(seen(threads={"lock": 7.0, "other": 1.0}), page_s=0.001)
    assert bottleneck(quick) == Bottleneck(kind=LOCK, places=8, unit="thread")
    assert bottleneck(replace(quick, threads=None)) is None


def test_an_engine_on_the_stack_s_core_leaves_it_not_idle():
    shared = Resources(stack_cores=(0,), generator_cores=(0,))
    waits = seen()
    busy = replace(waits, cores=shared, result=replace(waits.result, generator_cpu_s=1.5))
    assert bottleneck(busy) is None


def test_two_thirds_of_the_slices_must_agree():
    waits = [Bottleneck(kind=WAITING, places=8, unit="thread", at_once=n, page_s=WAIT_S) for n in (7.5, 8.5)]
    assert agreed([*waits, None]) == replace(waits[0], at_once=8.0)
    assert agreed([waits[0], None]) is None
    assert agreed([None, None, waits[0]]) is None
    assert agreed([]) is None
    few = replace(waits[0], at_once=6.0)
    assert agreed([few, few, few]) is None
