"""Then and now as ratios: the ladder's mix against two predictions from its rungs."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.comparisons.cells import PartRace
from stackrace.features.comparisons.model import CellName, Figure, Metric
from stackrace.features.comparisons.ratios import mix_outcome, predicted, published_ratio
from stackrace.features.comparisons.reading import read_comparison
from stackrace.features.comparisons.words import mix_sentence

from .reruns import make_launch, make_slice, race_of

COMPARISON = read_comparison("mod-wsgi-2009")
(MIX,) = COMPARISON.mixes
PATH = COMPARISON.techniques["ladder"].path


THIS, THAT = (CellName(technique=name, concurrency=1) for name in ("one", "other"))


@pytest.mark.parametrize(
    ("other", "ratio"), [({}, 1.5), ({"unit": "ms"}, None), ({"of": "httpd"}, None), ({"part": "b"}, None)]
)
def test_only_figures_of_the_same_thing_make_a_ratio(other, ratio):
    first, second = (
        Figure(part="a", cell=cell, value=value, unit="req/s") for cell, value in ((THIS, 300.0), (THAT, 200.0))
    )
    assert published_ratio([first, replace(second, **other)], "a", Metric.THROUGHPUT, THIS, THAT) == ratio


def race(**rates):
    slices = [make_slice(rate, 100, name) for name, rate in rates.items()]
    raced = race_of(make_launch(PATH, 0, *slices), stacks=(PATH,))
    return PartRace(techniques=COMPARISON.techniques, race=raced)


@pytest.mark.parametrize("missing", ["memcached", "sqlalchemy", "mix"])
def test_a_missing_rung_leaves_no_outcome(missing):
    rates = {"memcached": 2000.0, "sqlalchemy": 500.0, "mix": 1450.0, missing: 0.0}
    assert mix_outcome(COMPARISON, race(**{name: rate for name, rate in rates.items() if rate}), MIX) is None
    assert mix_outcome(COMPARISON, None, MIX) is None


def test_without_published_rungs_there_is_no_prediction_of_then():
    bare = replace(COMPARISON, figures=())
    outcome = mix_outcome(bare, race(memcached=2000.0, sqlalchemy=500.0, mix=1450.0), MIX)
    assert outcome.then is None
    assert mix_sentence(outcome).endswith("the mean of the times 0.73.")


@given(st.floats(0.1, 1e6), st.floats(0.1, 1e6))
def test_times_never_promise_more_than_rates_and_both_lie_between_the_parts(memcached, sqlalchemy):
    mix = predicted({"memcached": memcached, "sqlalchemy": sqlalchemy})
    low, high = sorted((memcached, sqlalchemy))
    bounds = (low * 0.95, mix.rate_of_mean_time, mix.mean_of_rates, high * 0.95)
    assert all(one <= other * (1 + 1e-9) for one, other in pairwise(bounds))


def test_the_published_prediction_is_the_mean_of_the_rates():
    mix = predicted({"memcached": 2100, "sqlalchemy": 700})
    assert mix.mean_of_rates == pytest.approx(1850, rel=0.01)
    assert mix.rate_of_mean_time == pytest.approx(1 / (0.9 / 2100 + 0.1 / 700) * 0.95)
