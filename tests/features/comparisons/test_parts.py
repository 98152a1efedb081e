"""What a part asks to be raced, in full and quick, and which of its cells are raced on."""

import random
from dataclasses import replace

import pytest
from tests.core.race.simulated import asking, plan_for

from stackrace.base.errors import MissingError, StackError
from stackrace.features.comparisons.comparison_parts import (
    _FAILING_LAUNCHES,
    _TWIN_BLOCKS,
    part_request,
    still_open,
)
from stackrace.features.comparisons.model import Kind
from stackrace.features.comparisons.reading import read_comparison
from stackrace.features.comparisons.rerun import Mode
from stackrace.stacks.stack import original_path

from .reruns import ONE, OTHER, cell, make_claim, make_comparison, make_launch, make_slice, paired, race_of

COMPARISON = read_comparison("mod-wsgi-2009")
STATIC = COMPARISON.parts[0]


def anything(path):
    return None


def without(*words):
    """A check that refuses paths with any of these words."""

    def check(path):
        if any(word in path for word in words):
            raise MissingError(f"{path} is not installed; run: stackrace install it")

    return check


def test_in_full_it_is_the_authors_protocol():
    asked = part_request(COMPARISON, STATIC, Mode.FULL, anything)
    assert (asked.request.repeats, asked.request.run_requests, asked.request.exhaustive) == (3, 5000, False)
    assert not asked.request.keep_alive
    assert asked.left_out == ()


def test_quick_measures_every_cell_within_the_parts_budget():
    part = COMPARISON.part("rails")
    full = part_request(COMPARISON, part, Mode.FULL, anything).request
    quick = part_request(COMPARISON, part, Mode.QUICK, anything).request
    assert (quick.repeats, quick.run_requests, quick.run_requests_at, quick.run_s) == (None, None, {}, None)
    assert (quick.budget_s, quick.exhaustive) == (part.quick_s, True)
    assert (quick.stacks, quick.workloads, quick.concurrency) == (full.stacks, full.workloads, full.concurrency)


def test_quick_slices_are_as_long_as_the_part_says():
    comparison = read_comparison("nginx-mod-wsgi-2007")
    lengths = [part_request(comparison, part, Mode.QUICK, anything).request.slice_s for part in comparison.parts]
    assert lengths == [1.0, None]
    assert part_request(comparison, comparison.parts[0], Mode.FULL, anything).request.slice_s is None


def test_a_quick_form_of_runs_makes_shorter_ones():
    comparison = read_comparison("nginx-mod-wsgi-2007")
    part = comparison.parts[1]
    full = part_request(comparison, part, Mode.FULL, anything).request
    quick = part_request(comparison, part, Mode.QUICK, anything).request
    assert (quick.repeats, quick.run_requests) == (part.quick_repeats, part.quick_requests)
    assert (quick.run_requests_at, quick.run_s, quick.slice_s) == ({}, None, None)
    assert quick.budget_s == part.quick_s
    assert (quick.stacks, quick.concurrency) == (full.stacks, full.concurrency)


def test_what_is_not_installed_is_left_out_everywhere_and_said():
    asked = part_request(COMPARISON, STATIC, Mode.FULL, without("mode=daemon"))
    assert len(asked.left_out) == 4
    assert "is left out" in asked.left_out[0] and "stackrace install it" in asked.left_out[0]
    for paths in (asked.request.stacks, *(one.stacks for one in asked.request.workloads)):
        assert paths and not any("mode=daemon" in path for path in paths)


def test_a_workload_that_nobody_is_left_for_goes_too():
    asked = part_request(COMPARISON, STATIC, Mode.FULL, without("mode=embedded"))
    assert [one.name for one in asked.request.workloads] == ["string"]


def test_a_part_without_any_stack_is_refused_with_the_reasons():
    with pytest.raises(MissingError, match=r"none of the stacks of a-static\.toml") as raised:
        part_request(COMPARISON, STATIC, Mode.FULL, without("apache"))
    assert "stackrace install it" in raised.value.detail


def test_an_original_that_can_be_raced_here_stands_beside_its_substitute():
    comparison = read_comparison("litespeed-2007")
    stacks = part_request(comparison, comparison.parts[0], Mode.QUICK, anything).request.stacks
    litespeed = comparison.techniques["litespeed"]
    assert len(stacks) == len(set(stacks)) == 7
    assert stacks.index(litespeed.original) == stacks.index(litespeed.path) + 1


def test_an_original_that_cannot_is_no_news():
    def check(path):
        if "openlitespeed" in path:
            raise StackError("no server is called 'openlitespeed'")

    comparison = read_comparison("litespeed-2007")
    asked = part_request(comparison, comparison.parts[0], Mode.QUICK, check)
    assert len(asked.request.stacks) == 5
    assert asked.left_out == ()


def test_originals_join_the_workloads_of_their_substitutes():
    technique = replace(COMPARISON.techniques["no-mmap"], gone="x", instead="y", original="cherokee/http/waitress")
    comparison = replace(COMPARISON, techniques={**COMPARISON.techniques, "no-mmap": technique})
    request = part_request(comparison, STATIC, Mode.FULL, anything).request
    static, string = request.workloads
    assert technique.original in static.stacks
    assert technique.original not in string.stacks


# Which cells are raced on

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
    for blocks in range(_TWIN_BLOCKS + 1):
        race = raced(blocks, ratio=1.0, sd=0.2)
        paths = [path for path, _ in chosen(make_comparison(CLAIM), race, twin=True)]
        assert any(path != original_path(path) for path in paths) is (blocks < _TWIN_BLOCKS)


@pytest.mark.parametrize("kind", [Kind.FAILS, Kind.LIVES])
def test_claims_of_failing_wait_for_some_launches(kind):
    comparison = make_comparison(make_claim(kind), tables=())
    for blocks in range(1, _FAILING_LAUNCHES + 1):
        assert bool(chosen(comparison, paired([100] * blocks, [100] * blocks))) is (blocks < _FAILING_LAUNCHES)
