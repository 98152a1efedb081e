"""The checks on whole races: from plain numbers to findings."""

from __future__ import annotations

import math
from dataclasses import replace

from stackrace.base.verdict import Effect
from stackrace.report.words import findings as say
from stackrace.stats.values import Drift
from stackrace.validity.races import AnswerSizes, CarryOverTest, RaceView, TwinPair
from stackrace.validity.registry import examine_race

EQUAL = TwinPair(where="at c=20", ratio=1.01, low=0.98, high=1.04)
APART = TwinPair(where="at c=100", ratio=1.2, low=1.1, high=1.3)
STILL = Drift(value=0.01, low=-0.02, high=0.04)
SLOWER = Drift(value=math.log(0.85), low=math.log(0.8), high=math.log(0.9))
HEALTHY = RaceView(
    twin="waitress",
    twins=(EQUAL,),
    drift=STILL,
    uneven=(("gunicorn", STILL),),
    sizes=(AnswerSizes(where="at c=20", bytes_by_stack=(("waitress", 1000.0), ("gunicorn", 1015.0))),),
    carried=(CarryOverTest(by="the place in the turn", where="at c=20", p=0.3),),
)


def found(**changes):
    return {say.title(one): one for one in examine_race(replace(HEALTHY, **changes)).findings}


def test_a_healthy_race_has_no_findings():
    assert examine_race(HEALTHY).findings == ()
    assert examine_race(RaceView()).findings == ()


def test_twins_that_differ_void_the_race():
    finding = found(twins=(EQUAL, APART))["twins differ"]
    assert finding.effect is Effect.INVALIDATES
    assert "at c=100 its twin delivered 1.20× its throughput (1.10–1.30)" in say.seen(finding)
    assert "waitress ran twice" in say.seen(finding)
    assert not examine_race(replace(HEALTHY, twins=(APART,))).valid


def test_the_worst_of_several_levels_is_told():
    worse = replace(APART, where="at c=1", ratio=0.5, low=0.4, high=0.6)
    assert "at c=1 its twin delivered 0.50×" in say.seen(found(twins=(APART, worse))["twins differ"])


def test_a_drift_that_all_share_only_warns():
    finding = found(drift=SLOWER)["throughput drifts"]
    assert finding.effect is Effect.WARNS
    assert "ended 15 % slower than they began" in say.seen(finding)


def test_a_drift_that_another_stack_does_not_share_voids_the_race():
    faster = Drift(value=0.2, low=0.15, high=0.25)
    finding = found(drift=SLOWER, uneven=(("gunicorn", faster),))["throughput drifts"]
    assert finding.effect is Effect.INVALIDATES
    assert "gunicorn changed otherwise" in say.seen(finding)
    assert "22 % faster" in say.seen(finding)


def test_a_drift_that_may_be_none_or_is_small_is_let_pass():
    assert not found(drift=replace(SLOWER, high=0.01))
    assert not found(drift=Drift(value=0.09, low=0.05, high=0.12))


def test_answers_of_different_sizes_warn_and_name_the_stacks():
    sizes = AnswerSizes(
        where="on pages at c=20", bytes_by_stack=(("a", 10_000.0), ("b", 10_300.0), ("c", 10_001.0))
    )
    finding = found(sizes=(*HEALTHY.sizes, sizes))["answer sizes"]
    assert finding.effect is Effect.WARNS
    assert say.seen(finding) == "on pages at c=20 an answer of b is 10300 bytes long, one of a 10000"


def test_headers_of_tiny_answers_and_little_of_large_ones_are_let_pass():
    def sizes(*values):
        named = tuple((str(number), value) for number, value in enumerate(values))
        return (AnswerSizes(where="at c=20", bytes_by_stack=named),)

    assert not found(sizes=sizes(150.0, 406.0))
    assert found(sizes=sizes(150.0, 407.0))
    assert not found(sizes=sizes(100_000.0, 102_000.0))
    assert not found(sizes=sizes(150.0))
    assert not found(sizes=sizes())


def test_carry_over_shares_its_threshold_among_all_tests():
    one = CarryOverTest(by="which stack was loaded before", where="at c=20", p=0.004)
    assert found(carried=(one,))["carry-over"].effect is Effect.WARNS
    assert not found(carried=(one, replace(one, p=0.5), replace(one, p=0.6)))
    assert "which stack was loaded before (p = 0.004)" in say.seen(
        found(carried=(one, replace(one, p=0.5)))["carry-over"]
    )
