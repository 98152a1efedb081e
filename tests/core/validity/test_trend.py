"""Thirds of a series: what chance does is forgiven, what drifts is found."""

import random
from statistics import NormalDist

import pytest

from stackrace.validity.steady import _LEAST, _thirds


def test_five_values_say_nothing():
    assert _thirds([1.0] * (_LEAST - 1)) is None
    assert _thirds([0.0] * _LEAST) is None


def test_a_constant_series_has_not_changed():
    found = _thirds([3.0] * 9)
    assert (found.change, found.p) == (0.0, 1.0)


def test_a_step_is_signed_and_as_large_as_it_was():
    values = [10.0, 10.1, 9.9, 10.0] * 2 + [12.0, 12.1, 11.9, 12.0]
    found = _thirds(values)
    assert found.change == pytest.approx(2 / (sum(values) / 12))
    assert found.p < 1e-6
    assert _thirds(values[::-1]).change == pytest.approx(-found.change)


@pytest.mark.parametrize(("count", "most"), [(6, 0.014), (12, 0.014), (24, 0.014)])
def test_independent_noise_is_called_a_change_in_no_more_than_one_of_a_hundred(count, most):
    noise = random.Random(20)
    quantile = NormalDist(100, 5).inv_cdf
    series = [[quantile(noise.random()) for _ in range(count)] for _ in range(4000)]
    assert sum(_thirds(values).p < 0.01 for values in series) / len(series) <= most
