"""Every report where a race has several workloads, or runs; and that nothing changes where it has neither."""

import io
import json

import jsonschema
import pytest
from tests.factories import as_runs, make_race, with_workloads

from stackrace.report.document import schema
from stackrace.report.exporter import Format, render
from stackrace.report.merged_standing import standing_of
from stackrace.report.terminal import make_console, print_report

NAMES = ("static", "page")
VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema()))


def printed(race, width=120):
    out = io.StringIO()
    print_report(race, standing_of(race), make_console(out, width=width), details=True)
    return out.getvalue()


def exported(race, form):
    return render(race, standing_of(race), form)


@pytest.fixture(scope="module")
def several():
    return with_workloads(make_race(3, levels=(1, 20)), *NAMES)


@pytest.fixture(scope="module")
def runs():
    return as_runs(make_race(3, levels=(1, 20)))


@pytest.mark.parametrize("width", [60, 80, 160])
def test_no_line_is_wider_than_the_terminal(several, runs, width):
    for race in (several, runs):
        assert max(len(line) for line in printed(race, width).splitlines()) <= width


def test_the_document_names_it_and_validates(several, runs):
    document = json.loads(exported(several, Format.JSON))
    VALIDATOR.validate(document)
    assert [(level["workload"], level["label"]) for level in document["levels"]] == [
        ("static", "static, c=1"), ("static", "static, c=20"), ("page", "page, c=1"), ("page", "page, c=20"),
    ]  # fmt: skip
    assert document["race"]["workloads"] == {"static": ["/static/"], "page": ["/page/"]}
    assert {one["workload"] for launch in document["launches"] for one in launch["slices"]} == set(NAMES)
    document = json.loads(exported(runs, Format.JSON))
    VALIDATOR.validate(document)
    assert (document["race"]["repeats"], document["race"]["ending"]) == (5, "completed")
    assert document["race"]["loads"][0]["requests"] == 500
