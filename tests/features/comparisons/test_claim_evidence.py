"""The variance that cells lend each other: what it is for two, and what many share."""

import math

import numpy as np
import pytest
import scipy

from stackrace.features.comparisons.claims import Panel, evidence
from stackrace.stats.pairs import ROBUST_FROM


def panel(values, group=None, contrasts=((0, 1),)):
    return Panel(values=np.asarray(values), group=group or [0] * len(values), contrasts=list(contrasts))


@pytest.mark.parametrize("n", [2, 5, 9])
def test_two_cells_alone_have_the_plain_mean_and_variance(n):
    x, y = np.random.default_rng(n).normal(0, 1, (2, n))
    found = evidence(panel([x, y]))
    assert found.estimate[0] == pytest.approx((x - y).mean())
    assert found.variance[0] == pytest.approx((x - y).var(ddof=1))
    assert found.nu[0] == pytest.approx(n - 1)
    assert found.error[0] == pytest.approx(scipy.stats.sem(x - y))


def test_from_ten_blocks_on_it_is_trimmed():
    x, y = np.random.default_rng(1).normal(0, 1, (2, ROBUST_FROM))
    assert evidence(panel([x, y])).estimate[0] == pytest.approx(scipy.stats.trim_mean(x - y, 0.2))


def test_only_blocks_with_both_cells_count():
    values = np.random.default_rng(1).normal(0, 1, (2, 6))
    values[0, 2] = np.nan
    found = evidence(panel(values))
    assert found.blocks[0] == 5
    assert found.estimate[0] == pytest.approx(np.nanmean(values[0] - values[1]))


def test_without_two_common_blocks_there_is_no_error():
    found = evidence(panel([[1.0, math.nan], [2.0, 3.0]]))
    assert (found.blocks[0], found.nu[0], found.error[0]) == (1, 0.0, math.inf)


def test_many_cells_lend_each_other_degrees_of_freedom_but_no_more_than_they_have():
    values = np.random.default_rng(4).normal(0, 1, (12, 3))
    alone = evidence(panel(values[:2]))
    together = evidence(panel(values))
    apart = evidence(panel(values, group=[i // 2 for i in range(12)]))
    assert alone.nu[0] < apart.nu[0] < 3 * 12
    assert alone.nu[0] < together.nu[0] < 3 * 12
