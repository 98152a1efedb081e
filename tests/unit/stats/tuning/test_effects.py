"""Which settings matter."""

import math

import numpy as np

from stackrace.stats.tuning.effects import main_effects
from stackrace.stats.tuning.grid import grid_of

PLACES = [(float(i), float(j)) for i in range(4) for j in range(3)]
DELTA = math.log(1.05)


def effects(response, blocks=4, sd=0.005):
    dice = np.random.default_rng(1)
    values = np.array([response(i, j) for i, j in PLACES])[:, None] + dice.normal(0, sd, (12, blocks))
    return main_effects(grid_of(values=values, entered=np.isfinite(values), places=PLACES, delta=DELTA))


def test_a_setting_that_changes_nothing_does_not_matter_and_one_that_does_is_named_with_its_best():
    first, second = effects(lambda i, j: 0.2 * i)
    assert first.matters(DELTA) is True
    assert first.best == 3.0
    assert second.matters(DELTA) is False


def test_with_too_much_scatter_it_is_not_known():
    _, second = effects(lambda i, j: 0.2 * i, blocks=2, sd=0.2)
    assert second.matters(DELTA) is None


def test_one_that_helps_here_and_hurts_there_is_not_called_idle():
    first, _ = effects(lambda i, j: 0.3 * (i - 1.5) * (j - 1))
    assert first.matters(DELTA) is not False
