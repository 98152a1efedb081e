"""What is said of stacks that all wait for the app."""

from dataclasses import replace

from tests.core.race.contests import Entry, contest, flat
from tests.core.race.raced import merged

from stackrace.race.standing import standing
from stackrace.report.words.standing import words_of


def answer(cpu_ms, p50_s, alone_s=None):
    """The answer of an undecided race of two alike stacks; ``alone_s`` is the median at one connection."""
    race = contest({name: Entry(rates=flat(60.0), cpu={name: cpu_ms}) for name in "ab"}, blocks=3, sd=0.03)
    found = standing(race, merge=merged)
    (level,) = found.levels
    levels = [taking(level, 1, alone_s)] if alone_s is not None else []
    levels.append(taking(level, 20, p50_s))
    said = words_of(race, replace(found, levels=tuple(levels), headline=len(levels) - 1)).answer
    assert "b may be better" in said
    return said


def taking(level, connections, p50_s):
    """The level at so many connections, with that median."""
    rows = (replace(row, latency=replace(row.latency, p50=p50_s)) for row in level.rows)
    return replace(level, load=replace(level.load, concurrency=connections), rows=tuple(rows))


def test_of_stacks_that_wait_for_the_app_more_connections_tell_more_than_more_time():
    said = answer(2.0, 0.32, alone_s=0.32)
    assert "; all of them wait for the app, 320 ms an answer, with idle cores: " in said
    assert said.endswith("no server gives 20 connections more than 62.5 answers/s, so race more of them (-c).")


def test_stacks_whose_requests_wait_for_a_worker_are_not_at_the_apps_limit():
    assert "wait for the app" not in answer(2.0, 3.2, alone_s=0.32)


def test_a_single_level_does_not_show_what_an_answer_waits_for():
    assert "wait for the app" not in answer(2.0, 0.32)


def test_stacks_that_work_meanwhile_do_not_wait():
    assert "wait for the app" not in answer(25.0, 0.32, alone_s=0.32)


def test_quick_pages_are_no_reason():
    assert "wait for the app" not in answer(2.0, 0.01, alone_s=0.01)


def test_where_nothing_else_is_known_a_single_level_asks_for_fewer_connections():
    race = contest({name: Entry(rates=flat(60.0), cpu={name: 2.0}) for name in "ab"}, blocks=1, sd=0.0)
    found = standing(race, merge=merged)
    said = words_of(race, replace(found, levels=(taking(found.levels[0], 20, 0.32),))).answer
    assert said.endswith(
        "320 ms an answer, with idle cores: race fewer connections, too (-c), to learn what they wait for."
    )
