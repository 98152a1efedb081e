"""What a mix should reach: the author's way, and the right one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.comparisons.prediction import mean_of_rates, rate_of_mean_time

PUBLISHED = {"/memcached/": 2100, "/sqlalchemy/": 700, "/string/": 7500}

rates = st.floats(0.1, 1e6)


@st.composite
def mixes(draw):
    """Rates of two to six parts, and their shares."""
    names = [f"/{number}/" for number in range(draw(st.integers(2, 6)))]
    weights = [draw(st.floats(0.01, 1)) for _ in names]
    shares = {name: weight / math.fsum(weights) for name, weight in zip(names, weights, strict=True)}
    return {name: draw(rates) for name in names}, shares


def test_the_published_prediction_is_the_mean_of_the_rates():
    assert round(mean_of_rates(PUBLISHED)) == 1862
    assert mean_of_rates(PUBLISHED) == pytest.approx(1850, rel=0.01)


def test_the_same_figures_rightly_put_together_predict_a_tenth_less():
    assert rate_of_mean_time(PUBLISHED) == pytest.approx(1 / (0.9 / 2100 + 0.1 / 700) * 0.95)
    assert round(rate_of_mean_time(PUBLISHED)) == 1662


@given(mixes(), st.floats(0, 0.99))
def test_times_never_promise_more_than_rates(mix, extra):
    low, high = rate_of_mean_time(*mix, extra=extra), mean_of_rates(*mix, extra=extra)
    assert low <= high * (1 + 1e-9)


@given(mixes())
def test_both_lie_between_the_slowest_and_the_fastest(mix):
    slowest, fastest = min(mix[0].values()), max(mix[0].values())
    for predict in (rate_of_mean_time, mean_of_rates):
        assert slowest * (1 - 1e-9) <= predict(*mix, extra=0) <= fastest * (1 + 1e-9)


@given(rates, st.floats(0, 1))
def test_equal_parts_leave_nothing_to_argue_about(rate, share):
    same = {"a": rate, "b": rate}, {"a": share, "b": 1 - share}
    assert rate_of_mean_time(*same, extra=0) == pytest.approx(rate)
    assert mean_of_rates(*same, extra=0) == pytest.approx(rate)


@given(mixes(), st.integers(1, 10_000))
def test_the_times_of_so_many_requests_add_up(mix, requests):
    rates_per_s, shares = mix
    seconds = math.fsum(requests * share / rates_per_s[name] for name, share in shares.items())
    assert rate_of_mean_time(rates_per_s, shares, extra=0) == pytest.approx(requests / seconds)


@pytest.mark.parametrize("predict", [mean_of_rates, rate_of_mean_time])
@pytest.mark.parametrize(
    ("rates_per_s", "more", "message"),
    [
        ({"/memcached/": 2100}, {}, "no rate of /sqlalchemy/"),
        ({**PUBLISHED, "/sqlalchemy/": 0}, {}, "/sqlalchemy/ has 0"),
        ({**PUBLISHED, "/sqlalchemy/": math.nan}, {}, "/sqlalchemy/ has nan"),
        (PUBLISHED, {"shares": {"/memcached/": 0.5}}, "sum to 0.5"),
        (PUBLISHED, {"shares": {"/memcached/": 1.5, "/sqlalchemy/": -0.5}}, "not between 0 and 1"),
        (PUBLISHED, {"shares": {}}, "sum to 0"),
        (PUBLISHED, {"extra": 1.0}, "extra: 1.0"),
    ],
)
def test_what_cannot_be_predicted_is_named(predict, rates_per_s, more, message):
    with pytest.raises(ValueError, match=message):
        predict(rates_per_s, **more)
