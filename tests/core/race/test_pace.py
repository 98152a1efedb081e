"""How long answers take under load, and how long slices must be for that."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.race.simulated import SPEEDS, Clock, Nowhere, asking, plan_for, race

from stackrace.measure.workload import Burst, PageTime, mean_time
from stackrace.race.pacing.overhead import Overhead
from stackrace.race.pacing.pace import (
    _ENOUGH_ANSWERS,
    _LEAST_ANSWERS,
    _LEAST_RESPONSES,
    _SIDE_ANSWERS,
    MOST_SLICE_S,
    SLICE_S,
    SliceLengths,
    _slice_needed_s,
    at_once,
    heard,
    lengths_of,
    response_s,
    round_s,
)
from stackrace.race.pacing.schedule import _LEAST_SHARE, extent_of, plan_block

ONE_CORE = 1
TEN_PER_S = {"gunicorn": 10, "waitress": 12}
seconds = st.floats(0.0001, 20)
connections = st.integers(1, 1000)
hands = st.integers(1, 256)


def computing(page_s):
    return PageTime(wall_s=page_s, cpu_s=page_s)


def waiting(page_s, hands=2):
    """A page that waits, of which a stack serves so many at once: processes, threads, or all of an event loop's."""
    bursts = [(each, page_s * max(1.0, each / hands)) for each in (1, 10, 100)]
    return PageTime(wall_s=page_s, bursts=tuple(Burst(connections=c, per_s=c / s) for c, s in bursts))


def slow(page_s, paths=("gunicorn", "waitress"), **plan):
    return plan_for(paths, workloads=(replace(asking(""), page=computing(page_s)),), **plan)


@given(st.tuples(seconds, seconds), connections, hands, st.sampled_from([computing, waiting]))
def test_a_slower_page_never_has_a_shorter_slice(pages, concurrency, some, kind):
    faster, slower = (_slice_needed_s(kind(one), concurrency, some) for one in sorted(pages))
    assert SLICE_S <= faster <= slower <= MOST_SLICE_S


@given(seconds, connections, hands, st.sampled_from([computing, waiting]))
def test_a_slice_holds_enough_answers_and_response_times(page_s, concurrency, some, kind):
    slice_s = _slice_needed_s(kind(page_s), concurrency, some)
    response = response_s(kind(page_s), concurrency, some)
    answers = slice_s * concurrency / response
    if slice_s < MOST_SLICE_S:
        assert answers >= _LEAST_ANSWERS * (1 - 1e-9)
        assert slice_s >= _LEAST_RESPONSES * response * (1 - 1e-9) or answers >= _ENOUGH_ANSWERS * (1 - 1e-9)


@given(seconds, connections, hands)
def test_an_answer_takes_at_least_as_long_as_the_app_and_longer_with_more_connections(page_s, concurrency, some):
    response = response_s(computing(page_s), concurrency, some)
    assert page_s <= response <= response_s(computing(page_s), concurrency + 1, some)


def test_a_page_of_a_few_milliseconds_keeps_the_usual_slice():
    assert _slice_needed_s(computing(0.002), 100, ONE_CORE) == SLICE_S
    assert _slice_needed_s(PageTime(), 100, ONE_CORE) == SLICE_S


def test_connections_wait_for_cores_or_for_their_turn():
    assert response_s(computing(0.2), 100, ONE_CORE) == pytest.approx(20)
    assert response_s(waiting(0.2), 100, ONE_CORE) == pytest.approx(10)
    assert response_s(waiting(0.2), 1, ONE_CORE) == pytest.approx(0.2)
    assert response_s(waiting(0.2, hands=200), 100, ONE_CORE) == pytest.approx(0.2)


def test_beyond_the_last_burst_nothing_is_served_at_once_that_was_not_there():
    assert response_s(waiting(0.5, hands=40), 400, ONE_CORE) == pytest.approx(5.0)
    assert response_s(waiting(0.5, hands=1000), 400, ONE_CORE) == pytest.approx(0.5)


@pytest.mark.parametrize(("hands", "served"), [(1, 1), (8, 8), (40, 40), (1000, 100)])
def test_how_many_are_served_at_once_is_what_bursts_say(hands, served):
    assert at_once(waiting(0.5, hands), 100, ONE_CORE) == pytest.approx(served)
    # a core serves one at a time
    assert at_once(computing(0.25), 100, ONE_CORE) == pytest.approx(1)


def test_a_burst_that_says_that_more_connections_are_quicker_is_not_believed():
    page = PageTime(wall_s=0.1, bursts=(Burst(connections=10, per_s=10.0), Burst(connections=100, per_s=200.0)))
    assert [response_s(page, each, ONE_CORE) for each in (10, 50, 100)] == pytest.approx([1.0, 1.0, 1.0])


def test_between_bursts_requests_wait_for_their_turn_or_for_nobody():
    page = PageTime(wall_s=0.5, bursts=(Burst(connections=100, per_s=16.0),))
    times_s = [response_s(page, each, ONE_CORE) for each in (1, 4, 10, 40, 100)]
    assert times_s == pytest.approx([0.5, 0.5, 0.625, 2.5, 6.25])


@pytest.mark.parametrize(
    ("page_s", "hands", "apart_s"), [(0.5, 1000, 0.5), (0.5, 40, 0.5), (0.5, 8, 0), (0.02, 1000, 0)]
)
def test_slices_hold_whole_rounds_of_answers_that_come_at_once(page_s, hands, apart_s):
    page = waiting(page_s, hands)
    assert round_s(page, 100, ONE_CORE) == pytest.approx(apart_s)
    if apart_s:
        lengths = lengths_of(_cells(page, (100,)), ONE_CORE)
        assert lengths.slice_s / apart_s == pytest.approx(_LEAST_RESPONSES)
        for remaining_s in range(10, 200, 7):
            planned = plan_block(
                extent_of(_cells(page, (100,))),
                remaining_s=remaining_s,
                done=0,
                overhead=Overhead(),
                lengths=lengths,
            )
            assert planned is None or planned.slice_s / apart_s == pytest.approx(round(planned.slice_s / apart_s))


def _cells(page, levels):
    plan = plan_for(("gunicorn", "waitress"), levels=levels, workloads=(replace(asking(""), page=page),))
    return plan.cells(plan.stacks)


@pytest.mark.parametrize("answers", [0, 3, 100, 1000])
def test_a_warm_up_that_tells_about_the_same_changes_nothing(answers):
    page = waiting(0.5, hands=1000)
    told = heard(page, 100, answers, answers / 170 if answers else 0.4, ONE_CORE)
    assert told is page


def test_a_stack_that_serves_fewer_at_once_has_longer_slices_and_one_that_serves_more_shorter_ones():
    quick, slow = waiting(0.5, hands=1000), waiting(0.5, hands=8)
    assert response_s(heard(quick, 100, 16, 1.0, ONE_CORE), 100, ONE_CORE) == pytest.approx(6.25)
    assert response_s(heard(slow, 100, 200, 1.0, ONE_CORE), 100, ONE_CORE) == pytest.approx(0.5)
    # with fewer connections it takes no longer
    assert response_s(heard(slow, 100, 200, 1.0, ONE_CORE), 10, ONE_CORE) == pytest.approx(0.5)
    assert response_s(heard(PageTime(), 100, 16, 1.0, ONE_CORE), 100, ONE_CORE) == pytest.approx(6.25)


def test_slices_follow_the_warm_up_of_the_slowest_stack_until_it_leaves():
    page = waiting(0.02, hands=1000)
    clock = Clock()
    machine = Nowhere(clock, {"gunicorn": 4900, "waitress": 20, "cheroot": 5000})
    race(
        clock, machine, tuple(SPEEDS), budget_s=900.0, levels=(100,), workloads=(replace(asking(""), page=page),)
    )  # fmt: skip
    lengths = [(path, load.duration_s) for path, _, load, _, _ in machine.seen]
    assert lengths[0][1] == pytest.approx(2.0)
    assert lengths[-1][1] == SLICE_S and "waitress" not in {path for path, slice_s in lengths if slice_s == SLICE_S}


def test_other_levels_and_workloads_have_slices_of_their_own():
    fast, slower = replace(asking("fast"), page=computing(0.001)), replace(asking("slow"), page=computing(0.2))
    plan = plan_for(("gunicorn",), workloads=(fast, slower), levels=(1, 10))
    cells = plan.cells(plan.stacks)
    lengths = lengths_of(cells, ONE_CORE)
    assert lengths.slice_s == SLICE_S
    assert lengths.side_s == pytest.approx(_SIDE_ANSWERS * 0.2)
    alike = lengths_of(cells, ONE_CORE, alike=True)
    assert (alike.slice_s, alike.response_s) == (pytest.approx(6), pytest.approx(2))


def test_a_page_that_nobody_measured_is_raced_as_ever():
    plan = plan_for(("gunicorn", "waitress"), levels=(1, 10, 100))
    assert lengths_of(plan.cells(plan.stacks), ONE_CORE) == SliceLengths()


def test_the_slices_of_a_race_are_as_long_as_its_page_needs():
    plan = slow(0.1, budget_s=600.0)
    lengths = lengths_of(plan.cells(plan.stacks), ONE_CORE)
    clock = Clock()
    machine = Nowhere(clock, TEN_PER_S)
    race(clock, machine, ("gunicorn", "waitress"), budget_s=600.0, workloads=plan.workloads)
    assert {load.duration_s for _, _, load, _, _ in machine.seen} == {lengths.slice_s}
    assert min(load.duration_s for _, _, load in machine.warmed) >= lengths.response_s
    assert lengths.slice_s == pytest.approx(3.0)


def test_levels_beside_the_answers_own_leave_a_slow_page_a_second_block(clock):
    paths = tuple(f"gunicorn:workers={number}" for number in range(2, 10))
    page = replace(asking(""), page=waiting(0.14))
    machine = Nowhere(clock, dict.fromkeys(paths, 14))
    finished, _ = race(clock, machine, paths, budget_s=110.0, workloads=(page,), levels=(1, 4, 10))
    assert {launch.block for launch in finished.launches} == {0, 1}
    first = [launch for launch in finished.launches if launch.block == 0]
    assert {sum(one.load.concurrency == 10 for one in launch.slices) for launch in first} == {1}


def test_a_length_that_was_asked_for_holds():
    clock = Clock()
    machine = Nowhere(clock, TEN_PER_S)
    plan = slow(0.1, slice_s=1.0)
    race(clock, machine, ("gunicorn", "waitress"), budget_s=120.0, workloads=plan.workloads, slice_s=1.0)
    assert {load.duration_s for _, _, load, _, _ in machine.seen} == {1.0}


@given(st.floats(0.5, MOST_SLICE_S), st.floats(10, 3600))
def test_time_that_is_short_never_makes_slices_useless(slice_s, budget_s):
    plan = slow(0.2)
    planned = plan_block(
        extent_of(plan.cells(plan.stacks)),
        remaining_s=budget_s,
        done=0,
        overhead=Overhead(),
        lengths=SliceLengths(slice_s=slice_s),
    )
    assert planned is None or _LEAST_SHARE * slice_s * (1 - 1e-9) <= planned.slice_s <= slice_s


def test_the_mean_of_no_page_is_nothing():
    assert mean_time([]) == PageTime()
    assert mean_time([computing(0.1), waiting(0.3)]) == PageTime(wall_s=0.2, cpu_s=0.05)
