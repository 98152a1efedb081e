"""A tuning for which there is no time is cut to what the budget can tell apart."""

import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.core.race.simulated import plan_for

from stackrace.features.tune.model import Reference, Tuning, TuningGoal, TuningLimits
from stackrace.features.tune.space import space_of
from stackrace.features.tune.tuning_preparation import _cut_to_budget, thinned
from stackrace.race.preparation.prepared import PreparedRace
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

SPECS, ANY = catalogue().specs, frozenset({Interface.WSGI})

FORMULA = "gunicorn:workers=5,class=sync"


def whole(path, vary=()):
    space = space_of(parse_stack(path, SPECS, ANY), SPECS, ANY, cores=2, vary=vary)
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


@pytest.mark.parametrize(
    ("vary", "budget_s", "races", "is_short"),
    [
        (("all",), 36_000.0, range(30, 51), False),
        (("all",), 180.0, range(5, 30), True),
        ((), 180.0, range(5, 30), True),
        ((), 36_000.0, range(36, 37), False),
    ],
)
def test_at_most_fifty_configurations_race_and_fewer_in_a_short_time(vary, budget_s, races, is_short):
    tuning, _ = whole("nginx/http/gunicorn", vary)
    tuning = replace(tuning, references={Reference.DEFAULT: "nginx/http/gunicorn"})
    plan = plan_for([*tuning.settings], budget_s=budget_s, slice_s=0.5)
    asked = RaceRequest(folder=Path())
    ready = PreparedRace(request=asked, plan=plan, machine=None, folder=None, begun_s=time.monotonic())
    cut = _cut_to_budget(ready, tuning)
    part = cut.plan.race.parts.get(Tuning) or tuning
    racing = {*cut.plan.race.stacks} - {*part.reserve}
    assert len(racing) in races
    assert part.cut == len(tuning.settings) - len(tuning.reserve) - len(racing)
    assert (part.whole_s is not None) == is_short
