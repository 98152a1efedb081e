"""Ratios of chosen cells: agreement with what is known, and coverage by simulation."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import scipy

from stackrace.stats.ratio import Contrast, ratios

SHAPES = {
    "a star": lambda k: [(0, i) for i in range(1, k)],
    "a chain": lambda k: [(i, i + 1) for i in range(k - 1)],
    "disjoint pairs": lambda k: [(i, i + 1) for i in range(0, k, 2)],
    "all pairs": lambda k: list(combinations(range(k), 2)),
}


def contrasts(values, edges, group=lambda edge: ()):
    return [
        Contrast(this=i, that=j, differences=tuple(values[i] - values[j]), group=group((i, j))) for i, j in edges
    ]


def coverage(edges, k, n, *, sd=None, races=400, group=lambda edge: ()):
    """Return in how many races of identical cells all limits hold at once."""
    rng = np.random.default_rng(100 * k + n)
    scale = np.ones(k) if sd is None else np.asarray(sd)
    held = 0
    for _ in range(races):
        values = rng.normal(0, 1, (k, n)) * scale[:, None] + rng.normal(0, 3, n)
        found = ratios(contrasts(values, edges, group))
        held += all(one.low <= 1 <= one.high for one in found)
    return held / races


@pytest.mark.parametrize("n", [2, 3, 5, 7, 10, 20])
def test_one_contrast_alone_has_yuens_limits(n):
    x = np.random.default_rng(n).normal(0.3, 0.1, n)
    found = ratios([Contrast(this="a", that="b", differences=tuple(x))])[0]
    g = n // 5
    h = n - 2 * g
    wins = np.asarray(scipy.stats.mstats.winsorize(x, limits=(g / n, g / n)))
    error = math.sqrt((n - 1) * wins.var(ddof=1) / (h * (h - 1)))
    half = scipy.stats.t.ppf(0.975, h - 1) * error
    assert found.value == pytest.approx(math.exp(scipy.stats.trim_mean(x, 0.2)))
    assert found.high == pytest.approx(found.value * math.exp(half), rel=2e-3)
    assert found.low == pytest.approx(found.value * math.exp(-half), rel=2e-3)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_limits_hold_at_once_in_92_percent_of_races_or_more(shape, n):
    assert coverage(SHAPES[shape](6), 6, n) >= 0.92


@pytest.mark.parametrize("n", [3, 7])
@pytest.mark.parametrize("shape", SHAPES)
def test_they_do_with_one_cell_of_five_times_the_variance(shape, n):
    assert coverage(SHAPES[shape](6), 6, n, sd=[1, 1, 1, 1, 1, math.sqrt(5)]) >= 0.92


def test_they_do_over_groups_of_very_different_noise():
    sd = [1, 1, 1, 30, 30, 30]
    edges = [(0, 1), (0, 2), (3, 4), (3, 5)]
    assert coverage(edges, 6, 5, sd=sd, group=lambda edge: edge[0] // 3) >= 0.92


def test_a_group_lends_its_certainty_to_each_of_its_contrasts():
    rng = np.random.default_rng(3)
    edges = SHAPES["disjoint pairs"](8)

    def width(group):
        found = [
            ratios(contrasts(rng.normal(0, 1, (8, 3)), edges, group))[0] for _ in range(200)
        ]  # fmt: skip
        return np.median([math.log(one.high / one.low) for one in found])

    assert width(lambda edge: ()) < 0.7 * width(lambda edge: edge)


def test_a_contrast_of_one_block_has_no_limits_and_widens_nobodys():
    other = Contrast(this="a", that="b", differences=(0.1, 0.2, 0.15))
    single = Contrast(this="a", that="c", differences=(0.7,))
    both = ratios([other, single])
    assert both[0] == ratios([other])[0]
    assert (both[1].value, both[1].low, both[1].high) == (pytest.approx(math.exp(0.7)), None, None)


def test_the_other_way_round_the_ratio_is_the_reciprocal():
    x = np.random.default_rng(5).normal(0.2, 0.1, (4, 6))
    there = ratios(contrasts(x, [(0, 1), (0, 2), (1, 3)]))
    back = ratios(contrasts(x, [(1, 0), (2, 0), (3, 1)]))
    for one, other in zip(there, back, strict=True):
        assert one.value == pytest.approx(1 / other.value)
        assert (one.low, one.high) == (pytest.approx(1 / other.high), pytest.approx(1 / other.low))


def test_contrasts_with_different_numbers_of_blocks_stand_together():
    x = np.random.default_rng(6).normal(0, 0.1, (3, 9))
    found = ratios([
        Contrast(this=0, that=1, differences=tuple(x[0] - x[1])),
        Contrast(this=0, that=2, differences=tuple((x[0] - x[2])[:4])),
    ])  # fmt: skip
    assert all(one.low < one.value < one.high for one in found)


def test_blocks_without_any_difference_leave_limits_without_width():
    found = ratios([Contrast(this=0, that=1, differences=(0.5, 0.5, 0.5))])[0]
    assert found.low == pytest.approx(found.high)


def test_wild_differences_overflow_nothing():
    found = ratios([Contrast(this=0, that=1, differences=(-300.0, 300.0))])[0]
    assert found.low > 0 and math.isfinite(found.high)


def test_nothing_to_compare_gives_nothing():
    assert ratios([]) == ()


@pytest.mark.parametrize("differences", [(), (math.nan, 1.0)])
def test_gaps_are_refused(differences):
    with pytest.raises(ValueError, match="at least one value"):
        ratios([Contrast(this=0, that=1, differences=differences)])
