"""A tuning for which there is no time is cut to what the budget can tell apart."""

from itertools import pairwise

import pytest

from stackrace.features.tune.model import Reference, Tuning, TuningGoal, TuningLimits
from stackrace.features.tune.space import space_of
from stackrace.features.tune.tuning_preparation import thinned
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

SPECS, ANY = catalogue().specs, frozenset({Interface.WSGI})

FORMULA = "gunicorn:workers=5,class=sync"


def whole(path):
    space = space_of(parse_stack(path, SPECS, ANY), SPECS, ANY, cores=2)
    tuning = Tuning(
        stack=path, goal=TuningGoal(), limits=TuningLimits(), knobs=space.knobs,
        settings={stack.path: values for stack, values in space.configurations.items()},
        references={Reference.FORMULA: FORMULA}, reserve=space.reserve,
    )  # fmt: skip
    return tuning, [one for one in tuning.settings if one not in space.reserve]


@pytest.mark.parametrize("most", [12, 9, 6])
def test_the_ends_of_a_range_and_the_references_stay(most):
    tuning, field = whole("gunicorn")
    knobs, kept = thinned(tuning, field, most)
    assert len(field) == 36
    assert 2 <= len(kept) <= most
    assert FORMULA in kept
    for before, now in zip(tuning.knobs, knobs, strict=True):
        assert (before.values[0], before.values[-1]) == (now.values[0], now.values[-1])


def test_a_single_long_range_is_thinned_where_its_values_lie_the_closest():
    tuning, field = whole("waitress")
    (threads,), kept = thinned(tuning, field, 5)
    assert len(kept) == 5
    numbers = [int(value) for value in threads.values]
    assert max(high / low for low, high in pairwise(numbers)) <= 5


def test_what_fits_stays_whole():
    tuning, field = whole("waitress")
    assert thinned(tuning, field, 50) == (tuning.knobs, tuple(field))
