"""How much a machine's speed varies, from what its canaries cost."""

import pytest

from stackrace.features.doctor.look import _spread


def test_the_spread_leaves_out_the_luckiest_and_the_unluckiest_moments():
    assert _spread([100.0] * 10 + [500.0]) == 0
    assert _spread([100.0] * 10 + [130.0] * 10) == pytest.approx(0.3)


def test_a_few_canaries_or_none_say_nothing():
    assert _spread([100.0, 300.0]) is None
    assert _spread([0.0] * 20) is None
