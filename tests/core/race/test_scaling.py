"""From a standing's levels to scaling curves."""

from dataclasses import replace

import pytest
from tests.factories import each_slice

from stackrace.race.judge.ranking import standing

from .contests import Entry, contest
from .raced import merged


def usl(one, sigma, kappa, levels):
    return {n: one * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)) for n in levels}


SIX = (1, 5, 10, 20, 50, 100)


def curves(rates, **options):
    race = contest({"a": Entry(rates=rates, cpu={"a": 0.4})}, **options)
    return standing(race, merge=merged).scaling


def test_six_levels_show_the_law_they_follow():
    (curve,) = curves(usl(500, 0.2, 0.001, SIX))
    assert curve.levels == SIX
    assert curve.unfit is None
    assert curve.law.single_per_s.low < 500 < curve.law.single_per_s.high
    assert curve.law.contention.value == pytest.approx(0.2, abs=0.02)
    assert curve.law.peak.value == pytest.approx((0.8 / 0.001) ** 0.5, rel=0.1)
    assert curve.law.at(20) == pytest.approx(usl(500, 0.2, 0.001, (20,))[20], rel=0.1)


def test_three_levels_have_a_knee_but_no_law():
    (curve,) = curves({1: 500, 20: 1000, 100: 1000})
    assert (curve.knee, curve.law) == (20, None)
    assert (curve.unfit.levels, curve.unfit.levels_needed) == (3, 6)


def test_one_level_is_no_curve():
    assert curves({20: 1000}) == ()


def test_open_loops_have_no_connections_to_scale_with():
    race = contest({"a": Entry(rates={1: 500, 20: 1000}, cpu={"a": 0.4})})
    loads = {load.label: replace(load, rate_per_s=10.0 * load.concurrency) for load in race.loads}
    race = replace(race, loads=tuple(loads.values()))
    race = each_slice(race, lambda one: replace(one, load=loads[one.load.label]))
    assert standing(race, merge=merged).scaling == ()
