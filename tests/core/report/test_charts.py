from xml.etree import ElementTree

import pytest

from stackrace.report.html.svg import linear, logarithmic, tag, text


@pytest.mark.parametrize("most", [0.0, 1e-6, 0.3, 1, 7, 99, 101, 3819.4, 12_345, 9.9e6, float("nan"), float("inf")])
def test_linear_scales_hold_their_values_with_few_round_ticks(most):
    scale = linear(most)
    assert scale.ticks[0] == scale.low == 0
    assert 2 <= len(scale.ticks) <= 6
    assert scale.ticks[-1] <= scale.high
    assert all(len(f"{tick:.3g}".replace(".", "").strip("0")) <= 2 or "e" in f"{tick:.3g}" for tick in scale.ticks)
    if 0 < most < float("inf"):
        assert scale.high >= most * 0.999


@pytest.mark.parametrize(
    ("least", "most"), [(2.4, 310), (1, 1), (0.05, 0.06), (1e-3, 1e4), (0, 5), (5, float("inf")), (1, 10)]
)
def test_logarithmic_scales_hold_their_values(least, most):
    scale = logarithmic(least, most)
    assert scale.low < scale.high and scale.ticks
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)
    if least > 0 and most < float("inf"):
        assert scale.low <= least and most <= scale.high


def test_values_beyond_a_scale_stay_on_it():
    scale = linear(100)
    assert scale.at(-5) == 0 and scale.at(1e9) == 1 and 0 <= scale.at(float("nan")) <= 1


def test_text_and_attributes_are_escaped():
    drawn = tag("svg", text('<a & "b">', class_='"x"&<'))
    root = ElementTree.fromstring(drawn)
    assert root[0].text == '<a & "b">' and root[0].get("class") == '"x"&<'
