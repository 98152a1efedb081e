"""How long answers take under load, and how long slices must be for that."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.race.simulated import CORES, SPEEDS, Clock, Nowhere, asking, plan_for, race

from stackrace.model.page_time import PageTime, mean_time
from stackrace.model.stack import Interface
from stackrace.race.extent import extent_of
from stackrace.race.overhead import Overhead
from stackrace.race.pace import (
    ENOUGH_ANSWERS,
    LEAST_ANSWERS,
    LEAST_RESPONSES,
    MOST_SLICE_S,
    SIDE_ANSWERS,
    SLICE_S,
    Parallelism,
    SliceLengths,
    lengths_of,
    parallelism_of,
    response_s,
    slice_needed_s,
)
from stackrace.race.schedule import LEAST_SHARE, plan_block
from stackrace.servers import catalogue
from stackrace.spec.stack_path import parse_stack

ONE_CORE = Parallelism(cores=1, requests=2)
seconds = st.floats(0.0001, 20)
connections = st.integers(1, 1000)
hands = st.builds(Parallelism, cores=st.integers(1, 64), requests=st.integers(1, 256))


def computing(page_s):
    return PageTime(wall_s=page_s, cpu_s=page_s)


def waiting(page_s):
    return PageTime(wall_s=page_s, cpu_s=0.0)


def slow(page_s, paths=("gunicorn", "waitress"), **plan):
    return plan_for(paths, workloads=(replace(asking(""), page=computing(page_s)),), **plan)


@given(st.tuples(seconds, seconds), connections, hands, st.sampled_from([computing, waiting]))
def test_a_slower_page_never_has_a_shorter_slice(pages, concurrency, some, kind):
    faster, slower = (slice_needed_s(kind(one), concurrency, some) for one in sorted(pages))
    assert SLICE_S <= faster <= slower <= MOST_SLICE_S


@given(seconds, connections, hands, st.sampled_from([computing, waiting]))
def test_a_slice_holds_enough_answers_and_response_times(page_s, concurrency, some, kind):
    slice_s = slice_needed_s(kind(page_s), concurrency, some)
    response = response_s(kind(page_s), concurrency, some)
    answers = slice_s * concurrency / response
    if slice_s < MOST_SLICE_S:
        assert answers >= LEAST_ANSWERS * (1 - 1e-9)
        assert slice_s >= LEAST_RESPONSES * response * (1 - 1e-9) or answers >= ENOUGH_ANSWERS * (1 - 1e-9)


@given(seconds, connections, hands)
def test_an_answer_takes_at_least_as_long_as_the_app_and_longer_with_more_connections(page_s, concurrency, some):
    response = response_s(computing(page_s), concurrency, some)
    assert page_s <= response <= response_s(computing(page_s), concurrency + 1, some)


def test_a_page_of_a_few_milliseconds_keeps_the_usual_slice():
    assert slice_needed_s(computing(0.002), 100, ONE_CORE) == SLICE_S
    assert slice_needed_s(PageTime(), 100, ONE_CORE) == SLICE_S


def test_connections_wait_for_cores_or_for_processes():
    assert response_s(computing(0.2), 100, ONE_CORE) == pytest.approx(20)
    assert response_s(waiting(0.2), 100, ONE_CORE) == pytest.approx(10)
    assert response_s(waiting(0.2), 1, ONE_CORE) == pytest.approx(0.2)
    assert response_s(waiting(0.2), 100, Parallelism(cores=1, requests=200)) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("path", "at_once"),
    [
        ("gunicorn", 2),
        ("gunicorn:workers=8", 8),
        ("gunicorn:class=gthread,workers=2,threads=8", 16),
        ("nginx/http/gunicorn:workers=3,instances=2", 6),
        ("waitress:threads=6", 6),
        ("nginx", 2),
        # its workers are threads that meet the clients
        ("unit:processes=3,threads=4,workers=8", 12),
    ],
)
def test_what_a_stack_answers_at_once_is_in_its_settings(path, at_once):
    stack = parse_stack(path, catalogue().specs, frozenset(Interface))
    assert parallelism_of([stack], CORES) == Parallelism(cores=1, requests=at_once)


def test_the_stack_that_answers_the_fewest_at_once_decides():
    stacks = [parse_stack(path, catalogue().specs, frozenset(Interface)) for path in ("gunicorn", "waitress")]
    assert parallelism_of(stacks, CORES).requests == 2


def test_other_levels_and_workloads_have_slices_of_their_own():
    fast, slower = replace(asking("fast"), page=computing(0.001)), replace(asking("slow"), page=computing(0.2))
    plan = plan_for(("gunicorn",), workloads=(fast, slower), levels=(1, 10))
    cells, own = plan.cells(plan.stacks), parallelism_of(plan.stacks, plan.cores)
    lengths = lengths_of(cells, own)
    assert lengths.slice_s == SLICE_S
    assert lengths.side_s == pytest.approx(SIDE_ANSWERS * 0.2)
    alike = lengths_of(cells, own, alike=True)
    assert (alike.slice_s, alike.response_s) == (pytest.approx(6), pytest.approx(2))


def test_a_page_that_nobody_measured_is_raced_as_ever():
    plan = plan_for(("gunicorn", "waitress"), levels=(1, 10, 100))
    assert lengths_of(plan.cells(plan.stacks), parallelism_of(plan.stacks, plan.cores)) == SliceLengths()


def test_the_slices_of_a_race_are_as_long_as_its_page_needs():
    plan = slow(0.1, budget_s=600.0)
    lengths = lengths_of(plan.cells(plan.stacks), parallelism_of(plan.stacks, plan.cores))
    clock = Clock()
    place = Nowhere(clock, SPEEDS)
    race(clock, place, ("gunicorn", "waitress"), budget_s=600.0, workloads=plan.workloads)
    assert {load.duration_s for _, _, load, _, _ in place.seen} == {lengths.slice_s}
    assert min(load.duration_s for _, _, load in place.warmed) >= lengths.response_s
    assert lengths.slice_s == pytest.approx(3.0)


def test_levels_beside_the_answers_own_leave_a_slow_page_a_second_block(clock):
    paths = tuple(f"gunicorn:workers={number}" for number in range(2, 10))
    page = replace(asking(""), page=PageTime(wall_s=0.14, cpu_s=0.02))
    place = Nowhere(clock, dict.fromkeys(paths, 50))
    finished, _ = race(clock, place, paths, budget_s=110.0, workloads=(page,), levels=(1, 4, 10))
    assert {launch.block for launch in finished.launches} == {0, 1}
    first = [launch for launch in finished.launches if launch.block == 0]
    assert {sum(one.load.concurrency == 10 for one in launch.slices) for launch in first} == {1}


def test_a_length_that_was_asked_for_holds():
    clock = Clock()
    place = Nowhere(clock, SPEEDS)
    plan = slow(0.1, slice_s=1.0)
    race(clock, place, ("gunicorn", "waitress"), budget_s=120.0, workloads=plan.workloads, slice_s=1.0)
    assert {load.duration_s for _, _, load, _, _ in place.seen} == {1.0}


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
    assert planned is None or LEAST_SHARE * slice_s * (1 - 1e-9) <= planned.slice_s <= slice_s


def test_the_mean_of_no_page_is_nothing():
    assert mean_time([]) == PageTime()
    assert mean_time([computing(0.1), waiting(0.3)]) == PageTime(wall_s=0.2, cpu_s=0.05)
