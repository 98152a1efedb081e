"""The experiments with real races, on made-up ones: what they count, and what races without a result come to."""

from __future__ import annotations

import math
import os
import signal
import socket
from argparse import Namespace
from dataclasses import replace

import pytest
from benchmarks.lies.clean import confirmed
from benchmarks.lies.witness import Sight, explained_fairness, opened, sockets
from benchmarks.method import _races, aa_races, default_races, slowed
from benchmarks.method._kept import Kept
from benchmarks.method._races import outcome, rounds
from benchmarks.method.shares import interval
from tests.factories import make_finding, make_race

from stackrace.base.verdict import Effect, Verdict
from stackrace.race.judge.ranking import standing


def standing_of(race):
    return standing(race, merge=None)


def test_only_a_race_that_is_believed_and_has_all_stacks_is_measured():
    race = make_race(2, levels=(4,))
    stood = standing_of(race)
    void = replace(stood, verdict=Verdict((make_finding("twins-apart", Effect.INVALIDATES),)))
    one_failed = make_race(2, levels=(4,), failures=race.stacks[:1])
    assert outcome(race, stood) == "measured"
    assert outcome(race, void) == "void"
    assert outcome(one_failed, standing_of(one_failed)) == "refused"
    assert outcome(None, None) == "failed"


def test_a_race_that_fails_or_does_not_end_is_none_and_the_next_one_goes_on(tmp_path, monkeypatch):
    fails, hangs = tmp_path / "fails", tmp_path / "hangs"
    fails.write_text("#!/bin/sh\necho no such stack >&2\nexit 2\n")
    hangs.write_text("#!/bin/sh\nexec sleep 600\n")
    place = _races.Arena(tmp_path, 1)
    monkeypatch.setattr(_races, "SPARE_S", 0.2)
    for command in (fails, hangs):
        command.chmod(0o755)
        monkeypatch.setattr(_races, "STACKRACE", command)
        assert place.race(["gunicorn"], budget=0.1) is None


def test_an_arena_ends_as_after_ctrl_c_when_it_is_told_to_end():
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(KeyboardInterrupt), _races.arena() as place:
            signal.raise_signal(signal.SIGTERM)
        assert not place.folder.exists()
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_witness_explains_unevenness_by_the_connections_of_each_process():
    for spread in ([4, 4], [6, 2], [1, 3, 4]):
        each = [1 / connections for connections in spread for _ in range(connections)]
        jain = sum(each) ** 2 / (len(each) * sum(one**2 for one in each))
        assert explained_fairness(spread) == pytest.approx(jain)
    assert explained_fairness([6, 2]) < 0.8
    assert explained_fairness([8]) == explained_fairness([]) == 1


def test_the_witness_sees_the_sockets_that_a_process_opens():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        before = sockets([os.getpid()])
        assert before[os.getpid()]
        assert opened(before, sockets([os.getpid()])) == []
        with socket.create_connection(listening.getsockname()), listening.accept()[0]:
            assert opened(before, sockets([os.getpid()])) == [2]


def test_the_witness_confirms_what_it_saw_and_nothing_else():
    calm = Sight(stolen=0.0, speed=0.0, claimed=-0.2, fairness=1.0)
    for check, sight in (
        ("machine speed", replace(calm, speed=-0.1)),
        ("steal", replace(calm, stolen=0.05)),
        ("fairness", replace(calm, fairness=0.75)),
    ):
        assert confirmed(check, sight)
        assert not confirmed(check, calm)
    assert not confirmed("machine speed", replace(calm, speed=0.1))
    assert not confirmed("wrong answers", replace(calm, stolen=0.5))


def test_no_race_begins_when_the_minutes_are_over():
    assert list(rounds(Namespace(races=3, budget=1.0, minutes=None))) == [1, 2, 3]
    assert list(rounds(Namespace(races=3, budget=1.0, minutes=0.0))) == []


def test_void_and_refused_races_are_counted_but_neither_found_nor_missed():
    row = {
        "slowed by": "10 %",
        "true": 0.1,
        "seen": 0.11,
        "found": True,
        "wrong": False,
        "alike": False,
        "elapsed s": 60.0,
    }
    nothing = dict.fromkeys(row) | {"slowed by": "10 %"}
    found = [
        {**row, "outcome": "measured"},
        {**row, "outcome": "measured", "found": False, "alike": True},
        {**row, "outcome": "void", "found": False},
        {**nothing, "outcome": "failed"},
    ]
    summed = slowed.summed(10, found)
    assert (summed["measured"], summed["void"], summed["failed"]) == (2, 1, 1)
    assert (summed["found"], summed["called alike"], summed["mean s to tell"]) == (1, 1, 60.0)
    assert slowed.summed(5, found) == {}


def test_a_false_order_of_a_void_race_is_none():
    row = {"blocks": 7, "customary": 0.06, "t-test": False}
    found = [
        {**row, "outcome": "measured", "order": False},
        {**row, "outcome": "void", "order": False},
        {**row, "outcome": "measured", "order": True, "blocks": 1},
    ]
    race, means, test = aa_races.summed(found)
    assert (race["of"], race["false"]) == (1, 0)
    assert (means["of"], means["false"], test["false"]) == (3, 3, 0)


def test_the_customary_protocol_calls_clear_differences_and_has_no_say_where_a_run_failed():
    assert aa_races.compared([[100, 101, 99], [110, 111, 109]]) == {"customary": pytest.approx(0.1), "t-test": True}
    assert aa_races.compared([[100, 120, 80], [110, 111, 109]])["t-test"] is False
    assert aa_races.compared([[], [1, 2, 3]]) == {"customary": None, "t-test": None}


def default_row(ratio, *, result="best", first="a"):
    """A default race in which b comes to ``ratio`` of a, give or take 5 %."""
    rows = {"a": [1.0, 1.0, 1.0, 5], "b": [ratio, ratio / 1.05, ratio * 1.05, 5]}
    named = {"result": result, "stacks": [first], "leader": "a"}
    return {"outcome": "measured", "difference": 0.05, "rows": rows, **named}


def test_answers_contradict_each_other_where_one_denies_what_the_other_names():
    clear, near = default_row(0.5), default_row(0.98, result="good choice")
    assert default_races.contradictions([clear, near, clear]) == 0
    assert default_races.contradictions([clear, default_row(1.02, result="good choice", first="b")]) == 1
    assert default_races.contradictions([near, default_row(1.02, result="good choice", first="b")]) == 0
    assert default_races.contradictions([clear, {**near, "result": "close", "stacks": ["b"]}]) == 0


def test_limits_are_held_against_what_the_other_races_found():
    (row,) = default_races.repeats([default_row(ratio) for ratio in (0.50, 0.51, 0.49, 0.60)])
    assert (row["stack"], row["races"], row["held"], row["of"]) == ("b", 4, 1, 4)
    assert row["half-width"] == pytest.approx(math.log(1.05))
    assert default_races.repeats([default_row(0.5)] * 2) == []


def test_what_earlier_runs_saw_is_kept(tmp_path):
    file = tmp_path / "seen" / "races.jsonl"
    for number in range(2):
        Kept(file).add({"race": number})
    assert [row["race"] for row in Kept(file).rows] == [0, 1]
    assert all(row["at"] for row in Kept(file).rows)


def test_a_share_has_the_limits_that_wilson_gives_it():
    assert interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-3)
    assert interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-3)
    assert interval(0, 0) == (0, 1)
