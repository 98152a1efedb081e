"""Which cells of a part are raced on: those of open claims, as long as anything can come of them."""

import random

import pytest
from tests.core.race.simulated import asking, plan_for

from stackrace.features.comparisons.model import Kind
from stackrace.features.comparisons.stopping import FAILING_LAUNCHES, TWIN_BLOCKS, still_open
from stackrace.stacks.stack import original_path

from .reruns import ONE, OTHER, cell, make_claim, make_comparison, make_launch, make_slice, paired, race_of

CLAIM = make_claim(this=cell(concurrency=20), that=cell("other", concurrency=20))


def chosen(comparison, race, *, levels=(1, 20, 500), paths=(ONE, OTHER), twin=False):
    """Return path and concurrency of the cells that are raced next."""
    plan = plan_for(paths, levels=levels, workloads=(asking(""),))
    stacks = (*plan.stacks, plan.stacks[0].twin) if twin else plan.stacks
    left = still_open(comparison, comparison.parts[0])(race, plan.cells(stacks))
    return [(one.stack.path, one.load.concurrency) for one in left]


def raced(blocks, ratio=1.5, sd=0.01):
    dice = random.Random(1)
    return race_of(*(
        make_launch(path, block, make_slice(rate * dice.lognormvariate(0, sd), 20))
        for block in range(blocks) for path, rate in ((ONE, 100 * ratio), (OTHER, 100))
    ))  # fmt: skip


def test_the_first_block_has_what_claims_and_tables_speak_of():
    comparison = make_comparison(CLAIM)
    assert chosen(comparison, race_of()) == [(ONE, 1), (OTHER, 1), (ONE, 20), (OTHER, 20)]


def test_later_ones_have_what_open_claims_speak_of():
    assert chosen(make_comparison(CLAIM), raced(1)) == [(ONE, 20), (OTHER, 20)]


def test_a_race_whose_claims_are_told_is_over():
    assert chosen(make_comparison(CLAIM), raced(3)) == []


def test_a_claim_that_is_told_leaves_the_cells_of_others():
    open_one = make_claim(this=cell(concurrency=500), that=cell("other", concurrency=500))
    assert chosen(make_comparison(CLAIM, open_one), raced(3)) == [(ONE, 500), (OTHER, 500)]


def test_a_claim_of_stacks_that_are_given_up_is_not_waited_for():
    assert chosen(make_comparison(CLAIM), raced(1), paths=(ONE,)) == []


def test_the_twin_runs_beside_its_original_in_the_first_blocks():
    for blocks in range(TWIN_BLOCKS + 1):
        race = raced(blocks, ratio=1.0, sd=0.2)
        paths = [path for path, _ in chosen(make_comparison(CLAIM), race, twin=True)]
        assert any(path != original_path(path) for path in paths) is (blocks < TWIN_BLOCKS)


@pytest.mark.parametrize("kind", [Kind.FAILS, Kind.LIVES])
def test_claims_of_failing_wait_for_some_launches(kind):
    comparison = make_comparison(make_claim(kind), tables=())
    for blocks in range(1, FAILING_LAUNCHES + 1):
        assert bool(chosen(comparison, paired([100] * blocks, [100] * blocks))) is (blocks < FAILING_LAUNCHES)
