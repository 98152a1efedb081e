"""Every report where a race has several workloads, or runs; and that nothing changes where it has neither."""

import csv
import io
import json
import re

import jsonschema
import pytest
from tests.factories import STACKS, as_runs, make_race, with_workloads

from stackrace.race.events import Activity
from stackrace.report.document import schema
from stackrace.report.exporter import Format, render
from stackrace.report.live import LiveState, LiveView
from stackrace.report.result import standing_of
from stackrace.report.terminal import make_console, print_report
from stackrace.report.words.standing import elsewhere

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


def test_the_terminal_names_the_workload_in_headings_and_matrices(several):
    text = printed(several)
    assert text.startswith("On static, at 20 connections, ")
    assert "Raced: shop, static (/static/) and page (/page/): 3 stacks at 1 and 20 connections, 15 launches" in text
    assert text.index("Standing on static at c=20") < text.index("Standing on page at c=20")
    assert "Standing on static at c=1" not in text
    for heading in ("requests/s on static", "p99 ms on static", "requests/s on page", "p99 ms on page"):
        assert heading in text


def test_workloads_under_one_load_stand_beside_each_other():
    text = printed(with_workloads(make_race(1, levels=(20,)), "text", "memcached", "orm"))
    (heading,) = (line for line in text.splitlines() if line.startswith("requests/s"))
    assert heading.split() == ["requests/s", "text", "memcached", "orm"]


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


def test_the_table_of_slices_names_it_and_has_each_launchs_memory(several, runs):
    rows = list(csv.DictReader(io.StringIO(exported(several, Format.CSV))))
    assert {row["workload"] for row in rows} == set(NAMES)
    for row in csv.DictReader(io.StringIO(exported(runs, Format.CSV))):
        assert 0 < int(row["memory_start_bytes"]) <= int(row["memory_end_bytes"]) <= int(row["memory_peak_bytes"])


def test_markdown_has_a_table_for_each_workload_at_each_load(several):
    headings = re.findall("^#### (.*)$", exported(several, Format.MARKDOWN), re.M)
    assert headings[:4] == ["static, c=20", "static, c=1", "page, c=1", "page, c=20"]


def test_the_page_names_it_in_headings_curves_and_facts(several):
    page = exported(several, Format.HTML)
    for text in (
        "Standing on static at c=20", "Standing on page at c=20",
        "CPU per request on page at c=20", "Throughput against concurrency on static", "URLs of page",
        "Throughput against concurrency on page", ">page, c=1<",
    ):  # fmt: skip
        assert text in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)


def test_runs_are_told_with_their_number_and_their_memory_over_time(runs):
    text = printed(runs)
    assert "5 runs of each" in text
    assert "The race ended because all its runs were made." in " ".join(text.split())
    assert "Memory over time at c=20, MiB" in text
    assert "#### Memory over time at c=20" in exported(runs, Format.MARKDOWN)
    page = exported(runs, Format.HTML)
    assert "Memory over time at c=20" in page
    assert "every one on a fresh launch: 500 requests at c=1" in page.replace("<wbr>", "")


def test_where_there_is_one_workload_in_slices_nothing_speaks_of_workloads_or_runs():
    race = make_race(3, levels=(1, 20))
    for text in (printed(race), exported(race, Format.MARKDOWN), exported(race, Format.HTML)):
        assert "workload" not in text.replace("[workload]", "")
        assert "Memory over time at" not in text
        assert "of each" not in text
    assert "Standing at c=20" in printed(race)


def test_the_live_view_counts_runs_and_guesses_their_time():
    out = io.StringIO()
    with LiveView(out) as view:
        view.update(LiveState(
            activity=Activity.MEASURING, level="static, c=20", block=2, blocks=5, unit="runs", slices_done=8,
            slices_planned=40, elapsed_s=65, eta_s=130, stack=STACKS[0],
        ))  # fmt: skip
    assert out.getvalue() == "block 2 of 5, 8 of 40 runs, 1 min 5 s elapsed, about 2 min 10 s left\n"


def test_on_one_screen_the_only_other_level_names_its_workload_too():
    race = with_workloads(make_race(2, (20,)), "static", "pages")
    assert elsewhere(standing_of(race), race).startswith("On pages, at 20 connections, ")
