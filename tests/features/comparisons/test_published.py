"""The five comparisons as they are shipped: every path, name and cell in them is one."""

import pytest

from stackrace.app.bundle import bundled, bundled_names
from stackrace.features.comparisons.model import Metric
from stackrace.features.comparisons.named import NAMES
from stackrace.features.comparisons.reading import read_comparison
from stackrace.race.preparation.sessions import with_bundled_sessions
from stackrace.race.request.race_file import read_race_file
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

PARTS = [(name, part) for name in NAMES for part in read_comparison(name).parts]


def request_of(part):
    return read_race_file(part.file, lambda path: None)


def cells_of(comparison):
    """Every cell that is spoken of, with its part."""
    for figure in comparison.figures:
        yield figure.part, figure.cell
    for claim in comparison.claims:
        yield from ((claim.part, cell) for cell in (claim.this, claim.that) if cell is not None)


@pytest.mark.parametrize("name", NAMES)
def test_its_claims_can_be_judged(name):
    comparison = read_comparison(name)
    assert {claim.part for claim in comparison.claims} <= {part.key for part in comparison.parts}
    for claim in comparison.claims:
        assert claim.kind.is_ratio == (claim.that is not None)
        assert claim.metric not in (Metric.CPU, Metric.ERRORS) or not claim.kind.is_ratio
        assert claim.ratio is None or (claim.kind.is_ratio and claim.ratio > 0)
    assert all(figure.value > 0 for figure in comparison.figures)


@pytest.mark.parametrize("name", NAMES)
def test_an_original_is_held_against_an_original(name):
    techniques = read_comparison(name).techniques.values()
    assert {each.companion for each in techniques} <= {None, *(each.original for each in techniques if each.gone)}


def test_a_claim_is_made_once_for_each_of_its_workloads_and_levels():
    claims = [claim for claim in read_comparison("litespeed-2007").claims if claim.says == "AJP beats FastCGI"]
    assert [claim.this.concurrency for claim in claims] == [1, 125, 250, 375, 500] * 2, "of each workload"


def test_all_five_are_there():
    assert NAMES == (
        "deployment-2010", "lighttpd-2008", "litespeed-2007", "mod-wsgi-2009", "nginx-mod-wsgi-2007"
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_its_name_ends_with_its_year(name):
    assert name.endswith(str(read_comparison(name).year))


@pytest.mark.parametrize("name", NAMES)
def test_every_path_is_legal_and_written_as_it_is_stored(name):
    for technique in read_comparison(name).techniques.values():
        for path in filter(None, (technique.path, technique.original)):
            assert parse_stack(path, catalogue().specs, frozenset(Interface)).path == path


@pytest.mark.parametrize(("name", "part"), PARTS, ids=[f"{name}-{part.key}" for name, part in PARTS])
def test_a_part_races_techniques_of_its_comparison(name, part):
    paths = {technique.path for technique in read_comparison(name).techniques.values()}
    request = request_of(part)
    assert request.stacks and set(request.stacks) <= paths
    for workload in request.workloads:
        assert set(workload.stacks or ()) <= set(request.stacks)


@pytest.mark.parametrize("name", NAMES)
def test_every_technique_is_raced(name):
    comparison = read_comparison(name)
    raced = {stack for part in comparison.parts for stack in request_of(part).stacks}
    assert {technique.path for technique in comparison.techniques.values()} == raced


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_that_is_spoken_of_is_raced(name):
    comparison = read_comparison(name)
    for part, cell in cells_of(comparison):
        request = request_of(comparison.part(part))
        path = comparison.techniques[cell.technique].path
        assert cell.concurrency in request.concurrency, cell
        assert path in request.stacks, cell
        if request.workloads:
            (workload,) = (one for one in request.workloads if one.name == cell.workload)
            assert workload.stacks is None or path in workload.stacks, cell
        else:
            assert cell.workload == "", cell


@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_a_table_is_raced(name):
    comparison = read_comparison(name)
    for table in comparison.tables:
        request = request_of(comparison.part(table.part))
        assert set(table.levels) <= set(request.concurrency)
        for row in table.rows:
            assert row.workload in ({one.name for one in request.workloads} or {""})


@pytest.mark.parametrize(("name", "part"), PARTS, ids=[f"{name}-{part.key}" for name, part in PARTS])
def test_a_part_follows_its_authors_protocol(name, part):
    request = request_of(part)
    assert request.bundled in bundled_names()
    assert request.repeats and request.repeats >= 3
    assert request.run_requests or request.run_requests_at or request.run_s
    assert request.question == "ranking"
    assert 120 <= part.quick_s <= 900
    assert (part.quick_repeats is None) == (part.quick_requests is None)
    assert part.quick_repeats is None or part.quick_slice_s is None


def test_a_bundled_session_is_there():
    (part,) = read_comparison("deployment-2010").parts
    (workload,) = with_bundled_sessions(request_of(part)).workloads
    assert workload.session.is_file()


@pytest.mark.parametrize(("name", "part"), PARTS, ids=[f"{name}-{part.key}" for name, part in PARTS])
def test_the_bundled_app_has_the_pages(name, part):
    request = request_of(part)
    asked = {*(request.urls or ()), *(url for one in request.workloads for url in one.urls)}
    assert asked <= set(bundled(request.bundled).pages)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_gone_says_why_and_what_runs_instead(name):
    for technique in read_comparison(name).techniques.values():
        assert bool(technique.gone) == bool(technique.instead)
        assert technique.gone or not technique.original


RATIOS = {
    ("lighttpd-2008", "embedded", "lighttpd"): 316.08 / 170.46,
    ("lighttpd-2008", "embedded", "daemon"): 316.08 / 230.84,
    ("nginx-mod-wsgi-2007", "threaded", "inside"): 24.5 / 14.25,
    ("deployment-2010", "uwsgi1", "apache"): 0.25,
}


@pytest.mark.parametrize(("name", "this", "that"), RATIOS)
def test_published_ratios_come_from_the_figures(name, this, that):
    claims = [one for one in read_comparison(name).claims if one.that and one.kind.is_ratio]
    (claim,) = (
        one
        for one in claims
        if (one.this.technique, one.that.technique) == (this, that) and one.metric is not Metric.MEMORY
        and one.ratio is not None
    )  # fmt: skip
    assert claim.ratio == pytest.approx(RATIOS[name, this, that])


def test_the_ladder_has_its_published_hits():
    claims = read_comparison("mod-wsgi-2009").claims
    hits = [one.ratio for one in claims if one.part == "ladder"]
    assert hits == pytest.approx([0.773, 0.28, 0.187, 0.629, 0.795, 0.881], abs=0.001)


@pytest.mark.parametrize("name", ["litespeed-2007", "deployment-2010"])
def test_lost_charts_leave_directions_only(name):
    comparison = read_comparison(name)
    assert comparison.lost and not comparison.figures
