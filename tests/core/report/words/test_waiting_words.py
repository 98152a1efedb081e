"""What is said of stacks that all wait for the app."""

from dataclasses import replace

from tests.core.race.contests import Entry, contest, flat

from stackrace.race.standing import standing
from stackrace.report.words.standing import words_of


def answer(cpu_ms, p50_s):
    """The answer of a race of two alike stacks that is not decided yet."""
    race = contest({name: Entry(rates=flat(60.0), cpu={name: cpu_ms}) for name in "ab"}, blocks=3, sd=0.03)
    latency = replace(race.launches[0].slices[0].result.latency, p50=p50_s)
    return words_of(race, standing(race, merge=lambda parts: latency)).answer


def test_of_stacks_that_wait_for_the_app_more_connections_tell_more_than_more_time():
    said = answer(2.0, 0.32)
    assert "; all of them wait for the app, 320 ms an answer, with idle cores: " in said
    assert said.endswith("no server gives 20 connections more than 62.5 answers/s, so race more of them (-c).")


def test_stacks_that_work_meanwhile_do_not_wait():
    assert "wait for the app" not in answer(25.0, 0.32)


def test_quick_pages_are_no_reason():
    assert "wait for the app" not in answer(2.0, 0.01)
