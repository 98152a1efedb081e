"""How what the project runs today stands against the stack that the answer names."""

from dataclasses import replace

import pytest
from tests.core.race.contests import Entry, contest, flat
from tests.core.race.raced import merged
from tests.factories import each_launch, each_slice, make_counts, make_failure

from stackrace.base.verdict import Effect, Verdict
from stackrace.features.current.distance import CurrentKind
from stackrace.features.current.model import CurrentDeployment, CurrentQueue
from stackrace.measure.launch import FailureKind
from stackrace.race.judge.ranking import standing
from stackrace.race.results.parts import Parts
from stackrace.report.words.standing_sentences import words_of
from stackrace.validity.answers import failures, unexpected_status

FOUND = CurrentDeployment(stack="b", file="compose.prod.yml", line=12)
RACED = {
    "a": Entry(rates=flat(1000), cpu={"a": 1.0}, memory_mib=100),
    "b": Entry(rates=flat(610), cpu={"b": 1.5}, memory_mib=200),
    "c": Entry(rates=flat(1001), cpu={"c": 1.0}, memory_mib=101),
}


def held(deployment):
    return Parts() if deployment is None else Parts().having(deployment)


def stood(current, *, deployment=FOUND, entries=RACED, **changes):
    race = replace(contest(entries, **changes), current=current, parts=held(deployment))
    return race, standing(race, merge=merged)


def test_how_far_behind_it_is_stands_with_limits_and_costs():
    race, found = stood("b", entries={name: RACED[name] for name in "ab"})
    assert found.current is not None
    assert (found.current.kind, found.current.first) == (CurrentKind.BEHIND, "a")
    ratio = found.current.throughput
    assert ratio is not None and ratio.low is not None and ratio.high is not None
    assert ratio.low < 0.61 < ratio.high < 1
    assert (found.current.memory, found.current.cpu) == (pytest.approx(2), pytest.approx(1.5, rel=0.01))
    words = words_of(race, found).current
    assert words.startswith("Your present deployment (compose.prod.yml:12) delivers 0.6")
    assert words.endswith(" of a, with twice the memory and 1.50× the CPU time per request.")


def test_where_it_is_the_best_that_is_said():
    race, found = stood("a", entries={name: RACED[name] for name in "ab"})
    assert found.current is not None
    assert found.current.kind is CurrentKind.FIRST
    expected = "Your present deployment (compose.prod.yml:12) is itself the leader: a."
    assert words_of(race, found).current == expected


def test_where_it_cannot_be_told_from_the_best_that_is_said():
    race, found = stood("c")
    if found.answer.stacks[0] == "c":
        race, found = stood("a")
    assert found.current is not None
    assert found.current.kind is CurrentKind.OPEN
    assert "cannot be told from" in words_of(race, found).current
    assert "about the same memory" in words_of(race, found).current


def test_it_keeps_its_place_when_the_race_goes_on_without_it():
    race, _ = stood("b")
    launches = tuple(launch for launch in race.launches if launch.stack != "b" or launch.block < 4)
    found = standing(replace(race, launches=launches), merge=merged)
    assert found.current is not None
    assert found.current.kind is CurrentKind.BEHIND
    assert found.current.throughput is not None and found.current.throughput.low is not None


def test_where_it_failed_the_failure_is_told():
    failed = make_failure(FailureKind.NOT_STARTED, "no module named shop")
    race = each_launch(stood("b")[0], lambda one: replace(one, slices=(), failure=failed), "b")
    found = standing(race, merge=merged)
    assert found.current is not None
    assert found.current.kind is CurrentKind.UNMEASURED
    expected = "Your present deployment (compose.prod.yml:12), b, did not start: no module named shop."
    assert words_of(race, found).current == expected


def test_where_it_could_not_be_raced_the_way_out_is_told():
    lacking = replace(FOUND, problem="uwsgi is not installed; run: stackrace install uwsgi")
    race, found = stood("", deployment=lacking)
    expected = (
        "Your present deployment (compose.prod.yml:12) was not raced: uwsgi is not installed; run: "
        "stackrace install uwsgi."
    )
    assert words_of(race, found).current == expected


def test_without_a_deployment_nothing_is_said():
    race, found = stood("", deployment=None)
    assert found.current is None
    assert words_of(race, found).current == ""


QUEUE = CurrentQueue(server="uWSGI", file="uwsgi.ini", line=4, value=10)
BAD_GATEWAY = unexpected_status.finding(effect=Effect.INVALIDATES, value=0.56, status=502, server="nginx")


def erring(finding, counts, *, at=100, **found):
    """The races of ``RACED`` at two levels, at one of which all slices of b were refused for errors."""
    race, _ = stood("b", entries={name: replace(RACED[name], rates=flat(1000, 10, 100)) for name in "ab"})

    def refused(one):
        if one.load.concurrency < at:
            return one
        return replace(one, result=replace(one.result, counts=counts), verdict=Verdict((finding,)))

    race = replace(each_slice(race, refused, "b"), parts=held(replace(FOUND, **found)))
    return race, standing(race, merge=merged)


def test_what_fails_under_load_is_the_news_with_who_answers_and_what_its_queue_holds():
    race, found = erring(BAD_GATEWAY, make_counts(44, non2xx=56), queue=QUEUE)
    assert words_of(race, found).failing == (
        "Your present deployment fails at 100 connections: 56 % of the answers are 502 from nginx; "
        "uWSGI's queue holds 10 (uwsgi.ini:4)."
    )
    assert "delivers" in words_of(race, found).current
    race, found = erring(BAD_GATEWAY, make_counts(44, non2xx=56), queue=QUEUE, at=1)
    assert found.current is not None and found.current.kind is CurrentKind.UNMEASURED
    assert words_of(race, found).failing.startswith("Your present deployment fails at 10 connections: 56 % of the")
    assert words_of(race, found).current == ""


def test_a_queue_that_would_hold_all_connections_is_not_named():
    race, found = erring(BAD_GATEWAY, make_counts(44, non2xx=56), queue=replace(QUEUE, value=100))
    assert words_of(race, found).failing.endswith("56 % of the answers are 502 from nginx.")


def test_what_nobody_knows_of_errors_is_not_guessed():
    unknown = unexpected_status.finding(effect=Effect.INVALIDATES, value=0.56, status=0, server="")
    assert words_of(*erring(unknown, make_counts(44, non2xx=56))).failing == (
        "Your present deployment fails at 100 connections: 56 % of the answers are errors."
    )
    lost = failures.finding(effect=Effect.INVALIDATES, value=0.2)
    assert words_of(*erring(lost, make_counts(80, failed={"connect": 20}))).failing == (
        "Your present deployment fails at 100 connections: 20 % of the requests got no right answer."
    )


def test_errors_that_left_slices_to_believe_are_no_news():
    race, found = erring(replace(BAD_GATEWAY, effect=Effect.WARNS), make_counts(4000, non2xx=1))
    assert words_of(race, found).failing == ""
