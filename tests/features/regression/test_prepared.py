"""How long a check's slices are, and what it judges."""

from dataclasses import replace

import pytest
from tests.core.race.simulated import asking, plan_for

from stackrace.features.regression.check_preparation import _LEAST_PAIRS, _judged_of, slice_s
from stackrace.measure.workload import PageTime
from stackrace.race.judge.looks import LOOKS
from stackrace.race.pacing.overhead import planned_overhead
from stackrace.race.pacing.pace import planned_lengths
from stackrace.race.results.comparison import Response

P99_ANSWERS = 3000


def plan_of_page(wall_s, budget_s=600.0, workloads=("",)):
    """A check of a page that waits so long; two requests are served at once."""
    page = PageTime(wall_s=wall_s)
    plan = plan_for(["gunicorn:workers=2"] * 2, budget_s=budget_s, levels=(2,))
    race = replace(plan.race, exhaustive=len(workloads) > 1)
    plan = replace(plan, race=race, most_blocks=LOOKS[-1])
    return replace(plan, workloads=tuple(replace(asking(name), page=page) for name in workloads))


def answers_in(plan, length_s, wall_s):
    """How many answers of a side the budget holds, and how many pairs of launches."""
    overhead = planned_overhead(plan, planned_lengths(plan))
    slices = 2 * len(plan.workloads)
    pairs = plan.budget_s / (overhead.empty_block_s(2) + slices * (length_s + overhead.between_s))
    return pairs * length_s / (wall_s / 2), pairs


def test_slices_of_a_quick_page_are_as_long_as_a_races():
    assert slice_s(plan_of_page(0.001), ["throughput", "p99"]) is None


@pytest.mark.parametrize(
    ("wall_s", "budget_s", "workloads"),
    [(0.08, 600.0, ("",)), (0.09, 600.0, ("",)), (0.08, 900.0, ("pages", "api"))],
)
def test_slices_are_as_long_as_it_takes_to_judge_p99_within_the_budget(wall_s, budget_s, workloads):
    plan = plan_of_page(wall_s, budget_s, workloads)
    usual, longer = (slice_s(plan, judged) for judged in (["throughput"], ["throughput", "p99"]))
    assert longer > usual == 1.0
    answers, pairs = answers_in(plan, longer, wall_s)
    assert answers == pytest.approx(P99_ANSWERS, rel=0.01)
    assert pairs >= _LEAST_PAIRS


def test_however_slow_a_page_is_some_launches_are_made():
    plan = plan_of_page(0.5)
    assert answers_in(plan, slice_s(plan, ["p99"]), 0.5)[1] == pytest.approx(_LEAST_PAIRS)
    assert slice_s(plan, ["p50"]) is None


def test_lower_quantiles_are_judged_only_where_somebody_asks():
    usual = _judged_of({})
    assert {"p99", "cpu"} < set(usual)
    assert not {"p90", "p50"} & set(usual)
    lower = _judged_of({Response.P99: None, Response.P90: 0.1})
    assert lower["p90"] == 0.1 and "p99" not in lower
