"""What a disturbance does to each stack, on made-up runs and slices whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.method.repeat_checks import (
    Seen,
    changes,
    changes_of,
    effect_of,
    judged,
    seen_of,
    slopes,
    told,
    unlike,
)
from tests.factories import make_finding, make_race

from stackrace.base.verdict import Effect, Verdict
from stackrace.measure.load import SeriesBin
from stackrace.stacks.stack import twin_path

STACKS = ("gunicorn", "uwsgi", "apache+mod_wsgi")
PHASES = [(1.0, 2.0), (3.0, 4.0), (5.0, 5.5)]
"""The last is cut off by the end of the run."""


def answered(at_s):
    """2,000 answers a second, half of them while disturbed."""
    return 100 if any(begin <= at_s < end for begin, end in PHASES) else 200


BINS = [(round(0.1 * number, 1), answered(round(0.1 * number, 1))) for number in range(55)]


def noisy(truths, *, many=150, sd=0.1, seed=1):
    dice = np.random.default_rng(seed)
    return {stack: list(dice.normal(truth, sd, many)) for stack, truth in zip(STACKS, truths, strict=True)}


def effects(truths, **how):
    return {stack: effect_of(some) for stack, some in noisy(truths, **how).items()}


def test_each_disturbance_is_compared_with_what_follows_it():
    assert changes(BINS, PHASES) == pytest.approx([math.log(0.5)] * 2)
    assert changes(BINS[:20], PHASES) == changes(BINS, []) == []


def test_a_run_is_read_on_the_clock_of_its_disturbances():
    race = make_race(1, levels=(20,), blocks=1)
    series = tuple(
        SeriesBin(start_s=begin + 3, ok=ok, errors=0, in_flight=0, p50_s=0.0, p99_s=0.0) for begin, ok in BINS
    )
    launches = tuple(
        replace(
            launch,
            slices=tuple(
                replace(one, result=replace(one.result, started_at=97.0, series=series)) for one in launch.slices
            ),
        )
        for launch in race.launches
    )
    later = [(begin + 100, end + 100) for begin, end in PHASES]
    assert changes_of(replace(race, launches=launches), later) == {
        race.stacks[0]: pytest.approx([math.log(0.5)] * 2)
    }


def test_stacks_that_suffer_alike_only_see_noise_and_others_are_biased():
    assert told(effects((-0.3, -0.3, -0.3))) == "noise"
    assert told(effects((-0.3, -0.3, -0.5))) == "bias"
    assert told(effects((-0.3, -0.3, -0.3), many=12)) == "open"
    assert told({}) == "open"


def test_equal_stacks_are_seldom_called_biased():
    biased = [told(effects((-0.3, -0.3, -0.3), many=20, seed=seed)) == "bias" for seed in range(200)]
    assert sum(biased) <= 13


def test_the_limits_of_a_pair_hold_its_difference():
    (middle, low, high), *_ = unlike(effects((-0.3, -0.2, -0.2))).values()
    assert low < -0.1 < high
    assert middle == pytest.approx((low + high) / 2)


def test_all_races_of_a_kind_are_judged_together():
    half = [{"kind": "stopped", "changes": noisy((-0.3, -0.3, -0.3), many=75, seed=seed)} for seed in (1, 2)]
    (line,) = judged([*half, {"kind": "loop", "changes": {}}])
    assert (line["disturbed"], line["seen"], line["so"]) == ("stopped", 450, "noise")
    assert line["uwsgi"] == pytest.approx(math.exp(-0.3) - 1, abs=0.03)
    assert line["low"] < 0 < line["high"]


def recorded(follows, *, sd=0.05):
    """Slices of three stacks, four a launch; how ln(throughput) follows that of the machine's speed."""
    dice = np.random.default_rng(2)
    found = []
    for stack, slope in zip(STACKS, follows, strict=True):
        for number in range(400):
            slower = float(dice.normal(0, 0.1))
            value = 7 + 0.5 * (number // 4 % 3) - slope * slower + dice.normal(0, sd)
            found.append(Seen(stack=stack, launch=f"{number // 4}", value=value, slower=slower))
    return found


def test_slopes_are_found_within_launches_whatever_their_level():
    for one in slopes(recorded((1, 1, 1)), lambda one: one.slower).values():
        assert one.change == pytest.approx(-1, abs=4 * one.error)
        assert one.error == pytest.approx(0.05 / 0.1 / math.sqrt(300), rel=0.2)
        assert one.df == 299


def test_what_a_machine_did_by_itself_is_told_at_the_limit_of_its_check():
    canary, stolen = judged([], recorded((1, 2, 1)))
    assert canary["seen"] == 1200
    assert canary["gunicorn"] == pytest.approx(1 / 1.25 - 1, abs=0.03)
    assert canary["uwsgi"] == pytest.approx(1 / 1.25**2 - 1, abs=0.03)
    assert canary["so"] == "bias"
    assert (stolen["seen"], stolen["so"]) == (0, "open")


def test_what_never_changes_tells_nothing():
    still = [replace(one, slower=1.0) for one in recorded((1, 1, 1))]
    assert slopes(still, lambda one: one.slower) == slopes(still[:4], lambda one: one.slower) == {}


def test_slices_are_read_from_a_race_whatever_their_verdict_and_a_twins_are_its_stacks():
    race = make_race(3, levels=(4, 20), blocks=5)
    refused = Verdict((make_finding("steal", Effect.REDOES),))
    first, *others = race.launches
    launches = tuple(
        replace(launch, slices=tuple(replace(one, verdict=refused) for one in launch.slices))
        for launch in (replace(first, stack=twin_path(first.stack)), *others)
    )
    seen = seen_of(replace(race, launches=launches))
    assert len(seen) == 15
    assert all(one.stolen for one in seen)
    assert {one.stack for one in seen} == {launch.stack for launch in race.launches}
