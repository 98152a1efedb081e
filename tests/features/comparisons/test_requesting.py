"""What a part asks to be raced: in full, quick, and where not everything is installed."""

from dataclasses import replace

import pytest

from stackrace.base.errors import MissingError, StackError
from stackrace.features.comparisons.reading import read_comparison
from stackrace.features.comparisons.requesting import part_request
from stackrace.features.comparisons.rerun import Mode

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
