"""What the answer says of the place where the time goes."""

from dataclasses import replace

import pytest
from tests.core.race.contests import Entry, contest, flat
from tests.core.race.raced import merged
from tests.factories import each_slice

from stackrace.measure.launch import Bottleneck, BottleneckKind
from stackrace.race.judge.ranking import standing
from stackrace.report.words.standing_sentences import words_of

CPU, SERVICE, DATABASE, LOCK, WAITING, SHORT = BottleneckKind
CLIENTS = Bottleneck(kind=WAITING, places=20, unit="connection", at_once=19.9, page_s=0.32)
THREADS = Bottleneck(kind=WAITING, places=4, unit="thread", at_once=3.98, page_s=0.3)


def answer(*places, names="ab"):
    """The answer of an undecided race of alike stacks, each with its place where the time goes in all slices."""
    race = contest({name: Entry(rates=flat(60.0), cpu={name: 2.0}) for name in names}, blocks=3, sd=0.03)
    for name, place in zip(names, places, strict=True):
        race = each_slice(race, lambda one, place=place: replace(one, bottleneck=place), name)
    return words_of(race, standing(race, merge=merged)).answer


def test_of_stacks_that_wait_for_the_app_more_connections_tell_more_than_more_time():
    said = answer(CLIENTS, CLIENTS)
    assert "b may be better; a waits for the app, 320 ms a page, with idle cores: " in said
    assert said.endswith(
        "no server gives 20 connections more than about 62.5 answers/s, so race more of them (-c 40)."
    )


@pytest.mark.parametrize("other", [None, THREADS])
def test_unless_another_of_them_may_have_more_to_give(other):
    assert "would decide" in answer(CLIENTS, other)


def test_nothing_is_said_of_an_unknown_place():
    assert "would decide" in answer(None, None)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (THREADS, "a is limited by its 4 threads: each page takes 300 ms, so about 13.3 answers/s are the most"),
        (replace(THREADS, unit="process", places=1), "a is limited by its 1 process: each page takes 300 ms, so"),
        (replace(THREADS, kind=SHORT, places=16, at_once=11.2),
         "a serves about 11.2 requests at once, 70 % of what 16 threads could, with idle cores"),
        (replace(THREADS, kind=LOCK, places=8, at_once=1.0),
         "most threads of a wait for a lock, with idle cores: it serves about 1 request at once"),
        (replace(THREADS, kind=DATABASE, at_once=None), "threads of a wait for the database, with idle cores."),
        (Bottleneck(kind=SERVICE, name="postgresql"), "the cores are busy, most of all with postgresql."),
        (Bottleneck(kind=CPU, name="a", places=2, unit="process"),
         "the 2 processes of a keep a core each busy, and other cores are idle."),
    ],
)  # fmt: skip
def test_the_answer_says_where_its_first_stack_s_time_goes(place, said):
    assert said in answer(place, names="a")


def test_of_cpu_the_sentence_about_cpu_time_tells_enough():
    assert answer(Bottleneck(kind=CPU, name="a"), names="a") == answer(None, names="a")
