"""What is foretold of a race: how long it takes, who is left out for that, and what cannot be told at all."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.race.preparation.test_prepared import asking, stacks_of, stage

from stackrace.measure.resources import Resources
from stackrace.measure.workload import Burst, PageTime
from stackrace.race.pacing.pace import response_s
from stackrace.race.preparation.choosing import _ABOUT, Ahead, _levels_for
from stackrace.race.preparation.defaults import CONCURRENCY, LONGEST_RESPONSE_S
from stackrace.race.preparation.prepared import plan_of
from stackrace.race.request.request import RaceRequest
from stackrace.report.words.outlook import estimate, outlook
from stackrace.stats.values import Question

ASKED = RaceRequest(folder=Path("/nowhere"))
TEN = (
    "gunicorn", "gunicorn:class=gthread", "nginx/http/gunicorn", "uwsgi", "nginx/uwsgi/uwsgi",
    "uvicorn", "granian", "waitress", "cheroot", "hypercorn",
)  # fmt: skip
CORES = Resources(stack_cores=(0,), generator_cores=(1,))
STACKS = stacks_of(*TEN)
ONE_CORE = 1
QUICK = PageTime()
milliseconds = st.floats(0.1, 5000)


def page(ms):
    return replace(asking("", "/"), page=PageTime(wall_s=ms / 1000, cpu_s=ms / 1000))


def ahead(request, workload, loading=QUICK):
    return Ahead(request=request, workloads=(workload,), cores=CORES, loading=loading)


def told(ms, request=ASKED, *, paths=TEN, loading=QUICK, cores=2):
    """What a user reads before the race of a page that takes ``ms``; all stacks of ``paths`` are ready."""
    ready, workload = stacks_of(*paths), page(ms)
    coming = ahead(request, workload, loading)
    levels = coming.levels(ready)
    number = coming.number(ready, levels)
    made = stage(workload, levels=levels, paths=paths[:number], loading=loading)
    plan = replace(plan_of(request, made), start_cores=cores, left_out=ready[number:])
    return outlook(plan, request)


def proposed_s(words):
    return float(re.search(r"[Gg]ive --budget (\d+)min, which has a margin", words)[1]) * 60


def test_of_ten_stacks_and_a_fast_page_nothing_is_said():
    assert told(1) == told(5) == ()


def test_a_slow_page_has_fewer_connections_and_stacks_and_says_so():
    levels, time = told(140)
    assert levels == (
        "Your page takes 140 ms, so the load is 1, 4 and 10 connections: at 100 an answer would take about 14 s. "
        "Choose others, as with -c 100."
    )
    assert time.startswith("Ten stacks need about ")
    assert "Racing four. Left out: gunicorn" not in time
    assert "Racing four. Left out: nginx/uwsgi/uwsgi, uvicorn, " in time
    assert "; the budget is 3 min." in time
    assert "To race all, give --budget " in time


def test_an_app_that_is_slow_to_load_has_fewer_stacks_and_says_so():
    (words,) = told(1, loading=PageTime(wall_s=18.0, cpu_s=2.0), paths=TEN[:7])
    assert words.startswith("The app takes 18 s to load and to answer first: seven stacks need about ")
    assert "Racing two. Left out: " in words
    proposed = proposed_s(words)
    (words,) = told(1, replace(ASKED, stacks=TEN[:7]), loading=PageTime(wall_s=18.0, cpu_s=2.0), paths=TEN[:7])
    assert words.startswith("The app takes 18 s to load and to answer first: seven stacks need about ")
    assert words.endswith(" To race all, give --budget 19min, which has a margin.")
    assert told(1, replace(ASKED, budget_s=proposed), loading=PageTime(wall_s=18.0), paths=TEN[:7]) == ()


def test_processes_that_load_the_app_side_by_side_are_named():
    paths = ("gunicorn:workers=8", "uvicorn:workers=8")
    loading = PageTime(wall_s=4.0, cpu_s=4.0)
    (words,) = told(1, replace(ASKED, stacks=paths, budget_s=60.0), loading=loading, paths=paths, cores=1)
    assert words.startswith("The app takes 4 s to load and to answer first, and 32 s in the processes of a stack: ")


def test_the_budget_that_is_proposed_is_enough():
    time = told(140)[-1]
    proposed = proposed_s(time)
    assert len(told(140, replace(ASKED, budget_s=proposed))) == 1  # of the levels only


@pytest.mark.parametrize("stacks", [None, TEN[:7]])
def test_the_budget_that_is_proposed_is_enough_if_the_machine_is_busy_next_time(stacks):
    """Otherwise the user who gives it is asked for more, and more again."""
    request = replace(ASKED, stacks=stacks)
    words = told(40, request, loading=PageTime(wall_s=9.0, cpu_s=1.0), paths=TEN[:7])[-1]
    proposed = proposed_s(words)
    given = replace(request, budget_s=proposed)
    busy = told(80, given, loading=PageTime(wall_s=18.0, cpu_s=2.0), paths=TEN[:7])
    assert not any("budget" in each for each in busy), (words, busy)


def test_stacks_that_were_named_all_race_and_the_user_is_told_beforehand():
    request = replace(ASKED, stacks=TEN[:6], concurrency=(10,))
    (words,) = told(200, request, paths=TEN[:6])
    assert words.startswith("Your page takes 200 ms. Six stacks need about ")
    assert "so 3 min is likely too short. Give --budget " in words
    assert told(200, replace(request, budget_s=3600.0), paths=TEN[:6]) == ()


def test_a_ranking_takes_at_least_as_long():
    request = replace(ASKED, stacks=TEN, question=Question.RANKING, budget_s=300.0)
    assert "stacks need at least about" in told(140, request)[-1]


def test_several_pages_are_told_by_their_mean():
    made = stage(replace(asking("", "/a", "/b"), page=PageTime(wall_s=0.2, cpu_s=0.2)), levels=(1, 4, 10))
    assert outlook(plan_of(ASKED, made), ASKED)[0].startswith("Your pages take 200 ms on average, so the load")


@pytest.mark.parametrize("most", [10, 100])
def test_levels_that_short_loads_decide_are_explained_by_these(most):
    """Not by what a page takes alone, from which no reader could follow."""
    bursts = (Burst(connections=1, per_s=140.0), Burst(stack="uwsgi", connections=most, per_s=100 / 15))
    slow = replace(asking("b", "/b"), page=PageTime(wall_s=0.007, cpu_s=0.007, bursts=bursts))
    quick = replace(asking("a", "/a"), page=PageTime(wall_s=0.01, cpu_s=0.01))
    (words,) = outlook(plan_of(ASKED, stage(quick, slow, levels=(1, 4, 10), paths=TEN[:2])), ASKED)
    assert words == (
        f"In short loads uwsgi gave 6.67 right answers per second at {most} connections, so the load "
        "is 1, 4 and 10 connections: at 100 an answer would take about 15 s. Choose others, as with -c 100."
    )


def test_connections_at_which_everything_times_out_are_told():
    request = replace(ASKED, concurrency=(100,), stacks=TEN[:2], budget_s=3600.0)
    (words,) = told(200, request, paths=TEN[:2])
    assert words.startswith("At 100 connections an answer will take about 20 s, but requests time out after 10 s")
    assert told(200, replace(request, timeout_s=60.0), paths=TEN[:2]) == ()


def test_a_difference_that_no_race_tells_is_told_with_one_that_is():
    words = told(1, replace(ASKED, difference=0.001))[-1]
    assert words.startswith("To prove a difference of 0.1 % takes more launches than most races make")
    assert words.endswith("Give --difference 5% to get an answer even then.")
    assert told(1, replace(ASKED, difference=0.05)) == ()


def test_a_budget_without_a_decision_says_what_one_takes():
    request = replace(ASKED, concurrency=(1, 20), stacks=TEN[:2], budget_s=15.0)
    (words,) = told(1, request, paths=TEN[:2])
    assert words.startswith("A budget of 15 s holds a single launch of each stack, which proves nothing: ")
    assert "an answer takes 2 or more. Give --budget " in words


def test_runs_are_counted_and_foretell_nothing():
    request = replace(ASKED, concurrency=(10,), budget_s=30.0, repeats=2, run_s=1.0)
    assert told(500, request) == ()
    assert _levels_for(replace(request, concurrency=None), [page(500)], ONE_CORE) == CONCURRENCY


@given(milliseconds)
def test_default_levels_keep_answers_short_and_begin_with_one_visitor(ms):
    levels = _levels_for(ASKED, [page(ms)], ONE_CORE)
    assert levels == tuple(sorted(set(levels)))
    assert levels[0] == 1
    assert response_s(page(ms).page, levels[-1], ONE_CORE) <= _ABOUT * max(LONGEST_RESPONSE_S, ms / 1000)


@given(milliseconds, milliseconds)
def test_a_slower_page_never_has_more_connections(one, other):
    top = [max(_levels_for(ASKED, [page(ms)], ONE_CORE)) for ms in sorted((one, other))]
    assert top[0] >= top[1]


@pytest.mark.parametrize("ms", [1, 200])
def test_levels_that_were_given_stay(ms):
    assert _levels_for(replace(ASKED, concurrency=(100, 1)), [page(ms)], ONE_CORE) == (1, 100)


@given(milliseconds, st.floats(10, 7200), st.floats(10, 7200))
def test_more_budget_never_means_fewer_stacks(ms, one, other):
    levels = _levels_for(ASKED, [page(ms)], ONE_CORE)
    numbers = [
        ahead(replace(ASKED, budget_s=budget), page(ms)).number(STACKS, levels) for budget in sorted((one, other))
    ]
    assert 2 <= numbers[0] <= numbers[1] <= 10


def test_of_stacks_that_were_named_as_many_race_as_can_be_launched_twice():
    request = replace(ASKED, stacks=TEN, concurrency=(10,))
    numbers = [
        ahead(replace(request, budget_s=budget), page(50)).number(STACKS, (10,)) for budget in (30.0, 60.0, 120.0)
    ]
    assert numbers == sorted(numbers)
    assert 2 <= numbers[0] < numbers[-1] == len(TEN)
    assert ahead(replace(request, budget_s=30.0, exhaustive=True), page(50)).number(STACKS, (10,)) == len(TEN)
    assert ahead(ASKED, page(1)).number(STACKS[:1], CONCURRENCY) == 1


def test_who_is_left_out_of_those_that_were_named_is_told_with_the_budget_that_has_all():
    request = replace(ASKED, stacks=TEN, concurrency=(10,), budget_s=30.0)
    (words,) = told(50, request)
    assert "Left out: " in words and "To race all, give --budget " in words
    assert "proves nothing" not in words


def test_where_two_stacks_have_no_time_for_other_levels_the_highest_is_raced_alone():
    assert ahead(replace(ASKED, budget_s=60.0), page(140)).levels(STACKS) == (10,)
    assert ahead(replace(ASKED, budget_s=60.0, concurrency=(1, 10)), page(140)).levels(STACKS) == (1, 10)
    assert ahead(ASKED, page(140)).levels(STACKS) == (1, 4, 10)


def test_how_long_an_answer_takes_is_told_before_the_race():
    plan = plan_of(ASKED, stage(page(1), levels=CONCURRENCY, paths=TEN[:7]))
    assert outlook(plan, ASKED) == ()
    assert re.fullmatch(r"Seven stacks need about \d+ s for an answer\.", estimate(plan))
    # once is enough
    short = replace(plan, race=replace(plan.race, budget_s=55.0))
    assert "need about" in outlook(short, ASKED)[0]
    assert estimate(short) == ""
    exhaustive = replace(plan, race=replace(plan.race, exhaustive=True))
    assert estimate(exhaustive) == estimate(plan.among(plan.stacks[:1])) == ""
