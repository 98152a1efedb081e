"""What bursts tell of a page, how long they take, and what follows for levels, stacks, slices and budgets."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.race.preparation.test_prepared import asking, stacks_of
from tests.factories import make_counts, make_quantiles, make_result

from stackrace.app.examiner.messages import ThreadPool
from stackrace.deploy.machine import WARM_BIN_S
from stackrace.measure.load import Load, SeriesBin
from stackrace.measure.resources import Resources
from stackrace.measure.workload import Burst, PageTime
from stackrace.race.pacing.forecast import _SLACK, answer_s
from stackrace.race.pacing.pace import lengths_of
from stackrace.race.preparation.bursts import (
    _connections_for,
    _is_enough,
    _is_over,
    _limit_s,
    _rate_of,
    pilots,
    pool_note,
)
from stackrace.race.preparation.choosing import Ahead
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import catalogue

ASKED = RaceRequest(folder=Path("/nowhere"))
CORES = Resources(stack_cores=(0,), generator_cores=(1,))
ASGI = ("uvicorn", "granian:interface=asgi", "hypercorn", "gunicorn:class=uvicorn", "daphne")
WSGI = (
    "gunicorn", "gunicorn:class=gthread", "nginx/http/gunicorn", "uwsgi", "nginx/uwsgi/uwsgi", "apache+mod_wsgi",
    "waitress",
)  # fmt: skip
ALL = 10**9


def page(wall_s, cpu_s, hands):
    """A page of which a stack on one core serves so many at once, as perfect bursts show it."""
    bursts = [
        Burst(connections=each, per_s=each / max(wall_s, each * cpu_s, each * wall_s / hands)) for each in (1, 100)
    ]
    return PageTime(wall_s=wall_s, cpu_s=cpu_s, bursts=tuple(bursts))


def ahead(page, **asked):
    workload = replace(asking("", "/"), page=page)
    return Ahead(request=replace(ASKED, **asked), workloads=(workload,), cores=CORES, loading=PageTime())


def planned(page, paths, **asked):
    """Levels, number of stacks, seconds of a slice, and whether an answer is likely within the budget."""
    coming, stacks = ahead(page, **asked), stacks_of(*paths)
    levels = coming.levels(stacks)
    number = coming.number(stacks, levels)
    lengths = lengths_of(coming._cells(stacks, levels), 1)
    likely = answer_s(coming._forecast(stacks, levels), number) <= _SLACK * (asked.get("budget_s") or 180.0)
    return levels, number, round(lengths.slice_s, 2), likely


@pytest.mark.parametrize(
    ("page", "paths", "expected"),
    [
        (page(0.02, 0.0006, ALL), ASGI, ((1, 10, 100), 5, 0.2, True)),
        (page(0.5, 0.0006, ALL), ASGI, ((1, 10, 100), 5, 1.5, True)),
        # nobody waits for others, but a slice holds three response times of 5 s
        (page(5.0, 0.0006, ALL), ASGI, ((100,), 2, 15.0, False)),
        # threads of AnyIO
        (page(0.5, 0.0006, 40), ASGI, ((1, 10, 100), 5, 1.5, True)),
        (page(0.5, 0.001, 1), WSGI, ((1, 2, 4), 2, 10.0, False)),
        (page(0.5, 0.001, 8), WSGI, ((1, 10, 40), 5, 2.5, True)),
        (page(0.005, 0.005, ALL), WSGI, ((1, 10, 100), 7, 0.2, True)),
        (page(0.25, 0.25, ALL), WSGI, ((1, 4, 10), 2, 7.5, False)),
    ],
    ids=["async 20 ms", "async 0.5 s", "async 5 s", "40 threads", "1 process", "8 threads", "5 ms", "250 ms"],
)
def test_levels_stacks_and_slices_of_three_minutes_follow_from_what_is_delivered(page, paths, expected):
    assert planned(page, paths) == expected


def test_half_a_second_of_waiting_is_answered_at_100_connections_by_five_stacks_and_in_a_minute_by_four():
    waits = page(0.5, 0.0006, ALL)
    assert planned(waits, ASGI, concurrency=(100,)) == ((100,), 5, 1.5, True)
    assert planned(waits, ASGI, concurrency=(100,), budget_s=60.0) == ((100,), 4, 1.5, True)


@given(st.floats(0.0, 16.0), st.floats(0.0, 1.0), st.integers(1, 1000), st.integers(1, 8))
def test_bursts_take_two_seconds_and_two_response_times_and_are_long_enough(wall_s, computes, most, cores):
    alone = PageTime(wall_s=wall_s, cpu_s=wall_s * computes)
    limit_s = _limit_s(wall_s, 1)
    connections = _connections_for(alone, most, limit_s, cores)
    assert 1 <= len(connections) <= 2 and connections[-1] <= min(most, 100)
    assert len(connections) * (limit_s + 0.05) <= 2.05 + 2 * wall_s
    # for an answer, also of a server that computes all requests side by side
    assert limit_s > wall_s or wall_s == 0.0
    assert connections[-1] * alone.cpu_s / cores <= max(limit_s / 2, alone.cpu_s)


@pytest.mark.parametrize(
    ("wall_s", "cpu_s", "connections"),
    [
        (0.002, 0.002, (100,)),
        (0.02, 0.0006, (1, 100)),
        (0.5, 0.0006, (100,)),
        (5.0, 0.0006, (100,)),
        # 100 at once would take 6 s, and nobody is answered before
        (0.12, 0.12, (1, 8)),
        (0.7, 0.7, (4,)),
    ],
)
def test_a_quick_page_has_one_burst_and_a_slow_one_none_that_tells_nothing_new(wall_s, cpu_s, connections):
    alone = PageTime(wall_s=wall_s, cpu_s=cpu_s)
    assert _connections_for(alone, 100, _limit_s(wall_s, 1), 2) == connections
    assert _connections_for(alone, 1, _limit_s(wall_s, 1), 2) == (1,)
    assert max(_connections_for(alone, 2, _limit_s(wall_s, 1), 2)) == 2


def test_each_of_many_pages_has_time_for_two_answers():
    assert _limit_s(0.5, 12) == pytest.approx(1.0)
    assert _limit_s(0.001, 12) == pytest.approx(0.15, rel=0.01)


@pytest.mark.parametrize(
    ("counts", "connections", "wall_s", "enough"),
    [
        ([400], 100, 0.002, False),
        ([400, 500], 100, 0.002, True),
        # the first of a round are no round
        ([0, 0, 0, 0, 0, 60], 100, 0.5, False),
        ([0, 0, 0, 0, 0, 60, 40], 100, 0.5, True),
        ([1, 2, 2], 10, 0.1, False),
        ([12, 12], 100, 0.1, True),
        ([0, 0, 0], 1, 0.02, False),
    ],
)
def test_a_burst_ends_when_every_connection_has_an_answer_or_many_are_there(counts, connections, wall_s, enough):
    assert _is_enough(counts, connections, wall_s) is enough


@pytest.mark.parametrize(
    ("counts", "over"),
    [
        ([1] * 19, False),
        ([1] * 20, True),
        # nobody was answered
        ([0] * 30, False),
        # computed side by side: the first answers come late, and the others with them
        ([0] * 15 + [2] * 5, False),
        ([0] * 15 + [2] * 17, True),
    ],
)
def test_a_burst_lasts_as_long_after_its_first_answer_as_before_it(counts, over):
    assert _is_over(counts, 20 * WARM_BIN_S) is over


def burst_of(arrivals, connections, duration_s, mean_s):
    """What the engine says of answers that came at these seconds."""
    load = Load(concurrency=connections, duration_s=duration_s)
    bins = [[at for at in arrivals if i <= at / WARM_BIN_S < i + 1] for i in range(round(duration_s / WARM_BIN_S))]
    series = [
        SeriesBin(
            start_s=i * WARM_BIN_S,
            ok=len(each),
            errors=0,
            in_flight=connections,
            p50_s=0.0,
            p99_s=max(each, default=0.0),
        )
        for i, each in enumerate(bins)
    ]
    latency = replace(make_quantiles(), mean=mean_s, p50=mean_s, p90=mean_s)
    result = make_result(100, load=load)
    return load, replace(
        result, counts=make_counts(len(arrivals)), series=tuple(series), latency=latency, dead_time=0.0
    )


def test_a_round_of_answers_tells_the_rate_by_its_latency_and_a_few_answers_by_when_the_last_came():
    together = burst_of([0.52] * 60 + [0.61] * 40, 100, 0.7, 0.55)
    assert _rate_of(*together) == pytest.approx(100 / 0.55)
    # two processes
    few = burst_of([0.5, 0.5, 1.004, 1.004], 100, 1.4, 0.75)
    assert _rate_of(*few) == pytest.approx(4 / 1.004)
    assert _rate_of(*burst_of([], 100, 1.4, 0.0)) == pytest.approx(1 / 1.4)
    steady = burst_of([i * 0.001 for i in range(300)], 10, 0.3, 0.01)
    assert _rate_of(*steady) == pytest.approx(1000, rel=0.01)


def test_of_each_interface_that_stack_is_tried_first_that_promises_the_fewest_requests_at_once():
    paths = ("gunicorn:class=gthread,threads=8", "gunicorn:workers=1", "uvicorn", "waitress:threads=6")
    groups = [[stack.path for stack in group] for group in pilots(stacks_of(*paths), catalogue())]
    assert [group[0] for group in groups] == ["gunicorn:workers=1", "uvicorn"]
    assert len(groups[0]) == 3


def test_a_server_without_lifespan_events_is_tried_last():
    ((first, last),) = pilots(stacks_of("daphne", "uvicorn:workers=4"), catalogue())
    assert (first.path, last.path) == ("uvicorn:workers=4", "daphne")


@pytest.mark.parametrize(
    ("hands", "cpu_s", "pool", "is_told"),
    [
        (40, 0.001, 40, True),
        (80, 0.001, 40, False),
        (40, 0.012, 40, False),
        (ALL, 0.001, 40, False),
        (2, 0.001, 40, False),
    ],
)
def test_a_pool_of_threads_is_named_where_as_many_requests_are_served_at_once_and_the_cpu_is_idle(
    hands, cpu_s, pool, is_told
):
    workload = replace(asking("", "/items"), page=page(0.5, cpu_s, hands))
    words = pool_note(ThreadPool(framework="FastAPI", threads=pool), [workload], 1)
    assert bool(words) is is_told
    assert pool_note(None, [workload], 1) == ()
    if is_told:
        assert words[0].startswith(
            "/items runs in FastAPI's pool of threads, not in its event loop: of 100 requests"
        )
        assert "about 40 were served at once" in words[0] and "is the limit, not the server" in words[0]


def test_two_processes_have_two_pools():
    bursts = tuple(replace(burst, promised=2) for burst in page(0.5, 0.001, 80).bursts)
    workload = replace(asking("", "/"), page=PageTime(wall_s=0.5, cpu_s=0.001, bursts=bursts))
    (words,) = pool_note(ThreadPool(framework="Starlette", threads=40), [workload], 1)
    assert "about 80 were served at once" in words and "40 threads in each process" in words
