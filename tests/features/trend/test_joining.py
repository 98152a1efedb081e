"""Which races are joined, and what is said of their course."""

import random
from dataclasses import replace

import pytest
from tests.factories import HOST, make_race, make_standing

from stackrace.app.revision import Source
from stackrace.base import ids
from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.features.regression.model import Contender, GateFacts
from stackrace.features.trend.joining import joined
from stackrace.features.trend.model import Absence, Measure
from stackrace.features.tune.model import Tuning, TuningGoal, TuningLimits
from stackrace.measure.resources import Resources
from stackrace.race.results.parts import Parts
from stackrace.report.merged_standing import standing_of

STACKS = ("gunicorn", "uwsgi")


def race(day, *, faster=1.0, seed=0, commit="", **changes):
    """A race of one launch a stack, ``faster`` than others, with a noise of 2 %."""
    made = make_race(STACKS, levels=(20,), blocks=2, seed=7)
    noise = random.Random(f"{day} {seed}").gauss(1, 0.02)
    launches = tuple(
        replace(each, id=ids.generate(), slices=tuple(
            replace(one, result=replace(one.result, duration_s=one.result.duration_s / faster / noise))
            for one in each.slices
        ))
        for each in made.launches
    )  # fmt: skip
    source = Source(project="p", commit=commit) if commit else None
    asked = {"id": ids.generate(), "started_at": f"2026-11-{day:02}T12:00:00+00:00", "source": source, **changes}
    return replace(made, launches=launches, **asked)


def trend_of(races):
    return joined("shop", [(each, standing_of(each)) for each in races])


def series_of(trend, stack="gunicorn"):
    (found,) = [each for each in trend.series if each.key.stack == stack]
    return found


@pytest.fixture(scope="module")
def halved():
    """Twelve races; the last six deliver half, from another commit and kernel."""
    later = {"commit": "b" * 40, "host": replace(HOST, kernel="6.9"), "faster": 0.5}
    races = [race(day, **(later if day > 6 else {"commit": "a" * 40})) for day in range(1, 13)]
    return trend_of(races)


def test_a_change_is_found_where_it_was_made_with_its_size_and_what_else_changed(halved):
    (change,) = [each for each in series_of(halved).changes if each.measure is Measure.THROUGHPUT]
    assert change.at == 6
    assert change.ratio.low < 0.5 < change.ratio.high < 0.55
    assert change.is_worse
    assert change.changed_too["commit"] == ("aaaaaaa", "bbbbbbb")
    assert change.changed_too["kernel"][1] == "6.9"


def test_races_in_which_nothing_changed_show_no_change():
    trend = trend_of([race(day) for day in range(1, 15)])
    assert [series.changes for series in trend.series] == [(), ()]
    assert trend.races == 14


def test_a_last_race_that_lies_far_off_is_named_and_no_change():
    trend = trend_of([race(day) for day in range(1, 9)] + [race(9, faster=0.7)])
    series = series_of(trend)
    assert not series.changes
    assert series.unlike[Measure.THROUGHPUT].high < 0.9
    assert Measure.MEMORY not in series.unlike


def test_the_course_after_a_change_is_what_foretells_the_next_race(halved):
    assert Measure.THROUGHPUT not in series_of(halved).unlike


@pytest.mark.parametrize(
    "other",
    [
        {"host": replace(HOST, cpu="another CPU")},
        {"host": replace(HOST, memory_bytes=HOST.memory_bytes * 2)},
        {"cores": Resources(stack_cores=(0,), generator_cores=(1,))},
        {"urls": ("/other/",)},
        {"urls": ("/1/", "/2/", "/3/", "/4/")},
    ],
    ids=["cpu", "memory", "cores", "pages", "pages that words leave out"],
)
def test_races_that_cannot_be_compared_are_series_of_their_own(other):
    first = {"urls": ("/1/", "/2/", "/3/", "/5/")} if len(other.get("urls", ())) > 1 else {}
    trend = trend_of([race(1, **first), race(2, **first), race(3, **other)])
    lengths = sorted(len(each.points) for each in trend.series if each.key.stack == "gunicorn")
    assert lengths == [1, 2]


def test_a_new_kernel_makes_no_new_series():
    trend = trend_of([race(1), race(2, host=replace(HOST, kernel="6.9"))])
    assert len(series_of(trend).points) == 2


def test_races_that_tuned_a_stack_are_left_out():
    tuning = Tuning(
        stack="gunicorn", goal=TuningGoal(), limits=TuningLimits(), knobs=(), settings={}, references={}
    )
    tuned = replace(race(2), parts=Parts().having(tuning))
    trend = trend_of([race(1), tuned])
    assert (trend.races, trend.left_out) == (1, {Absence.TUNING: 1})


def test_the_more_series_a_trend_has_the_more_races_a_change_takes():
    few = trend_of([race(day) for day in range(1, 8)])
    other = [replace(each, urls=(f"/{number}/",)) for number in range(12) for each in map(race, range(1, 8))]
    assert few.needed == 10
    assert trend_of(other).needed > 12


def test_void_races_are_left_out_and_counted_and_checks_are_no_points():
    ended = race(1)
    void = Verdict((Finding(check="twin", effect=Effect.INVALIDATES, seen="", threshold="", remedy=""),))
    sides = GateFacts(
        base=Contender(label="main", revision="a" * 40),
        head=Contender(label="the work tree", revision="b" * 40, changed=2),
    )
    checked = replace(race(2), stacks=("gunicorn#base", "gunicorn#head"), launches=(), parts=Parts().having(sides))
    empty = replace(race(3), launches=())
    trend = joined(
        "shop",
        [
            (ended, standing_of(ended)),
            (ended, replace(make_standing(ended), verdict=void)),
            (checked, standing_of(ended)),
            (empty, standing_of(empty)),
        ],
    )
    assert trend.races == 1
    assert trend.left_out == {Absence.VOID: 1, Absence.NO_FIGURES: 1}
    (check,) = trend.checks
    said = check.said
    assert (said.base, said.head, said.stack) == ("main aaaaaaa", "the work tree bbbbbbb+", "gunicorn")
