"""How long slices are for a quantile."""

import pytest

from stackrace.base.errors import InputError
from stackrace.features.tune.candidates import tail_slice_s
from stackrace.features.tune.request import parse_goal


def slice_s(goal, asked_s=None):
    return tail_slice_s(parse_goal(goal), asked_s)


@pytest.mark.parametrize(
    ("goal", "seconds"),
    [("p50 at 200/s", 0.5), ("p90 at 100/s", 1.0), ("p99 at 200/s", 5.0), ("p99.9 at 2k/s", 5.0)],
)
def test_ten_requests_lie_beyond_the_quantile(goal, seconds):
    assert slice_s(goal) == pytest.approx(seconds)


def test_where_that_takes_too_long_the_quantile_and_the_rate_that_would_do_are_named():
    with pytest.raises(InputError) as refused:
        slice_s("p99.9 at 200/s")
    said = refused.value.message
    assert "--goal 'p99.9 at 200/s' needs slices of 50 s, for p99.9 rests on 10,000 requests" in said
    assert "give 'p99 at 200/s', 'p99.9 at 1000/s' or a higher rate, or --slice 50s" in said


def test_a_rate_for_which_no_quantile_would_do_names_none():
    with pytest.raises(InputError, match="give 'p50 at 2/s' or a higher rate"):
        slice_s("p50 at 1/s")


def test_a_long_slice_may_be_asked_for_and_one_that_is_too_short_is_refused():
    assert slice_s("p99.9 at 200/s", 50.0) == 50.0
    with pytest.raises(
        InputError, match=r"--slice 1 s has 200 requests at 200/s; p99 needs 1,000: give --slice 5s"
    ):
        slice_s("p99 at 200/s", 1.0)
