"""Races with several workloads, a recorded session among them, and runs on fresh launches, on real stacks."""

import json
import os
import re
import sys
from pathlib import Path

import jsonschema
import pytest
from tests.conftest import BRIEF, calling
from tests.raced import raced

from stackrace.report.document import schema

HAR = {
    "log": {
        "version": "1.2",
        "pages": [{"id": "one", "startedDateTime": "2026-11-21T20:00:00Z", "title": "", "pageTimings": {}}],
        "entries": [
            {
                "startedDateTime": f"2026-11-21T20:00:0{second}Z",
                "time": 5,
                "pageref": "one",
                "request": {"method": "GET", "url": f"http://pages.example{path}", "headers": []},
                "response": {"status": 200},
            }
            for second, path in enumerate(("/hello/", "/static/pages/site.css", "/random-row/"))
        ],
    }
}

WORKLOADS = """
[app]
bundled = "django"

[workloads.page]
urls = ["/hello/"]

[workloads.browse]
session = "browse.har"
stacks = ["nginx/http/waitress"]

[load]
concurrency = [1, 4]

[race]
budget = "60min"
exhaustive = true
stacks = ["waitress", "nginx/http/waitress"]
"""

APP = """
import os

book = open(os.path.join(os.environ["BOOKS"], str(os.getpid())), "ab", buffering=0)

def app(environ, start_response):
    book.write(b"x")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""

RUNS = """
[app]
wsgi = "counting:app"
python = "{python}"
env = {{ BOOKS = "{books}" }}

[load]
concurrency = [1, 4]
requests = 50

[race]
repeats = 2
twin = false
stacks = ["gunicorn:workers=1", "waitress"]
"""


def race(folder, text):
    (folder / "race.toml").write_text(text)
    document = raced(calling(*BRIEF)("run", "race.toml", "--json", cwd=folder, BLOCKS="1"))
    jsonschema.Draft202012Validator(json.loads(schema())).validate(document)
    return document


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several")
    (folder / "browse.har").write_text(json.dumps(HAR))
    return race(folder, WORKLOADS)


def test_each_workload_is_measured_at_each_load_on_the_stacks_that_meet_it(several):
    met = {
        (one["workload"], one["load"]["concurrency"], launch["stack"].removesuffix("#twin"))
        for launch in several["launches"]
        for one in launch["slices"]
    }
    behind = {("browse", c, "nginx/http/waitress") for c in (1, 4)}
    both = {("page", c, stack) for c in (1, 4) for stack in ("waitress", "nginx/http/waitress")}
    assert met == behind | both
    levels = {
        (level["workload"], level["load"]["concurrency"], row["stack"])
        for level in several["levels"]
        for row in level["rows"]
    }
    assert levels == met


def test_every_visitor_of_the_session_gets_the_page_with_its_static_file(several):
    slices = [one for launch in several["launches"] for one in launch["slices"] if one["workload"] == "browse"]
    assert slices
    for one in slices:
        assert {target["name"] for target in one["targets"]} == {
            "GET /hello/", "GET /static/pages/site.css", "GET /random-row/",
        }  # fmt: skip
        assert one["counts"]["non2xx"] == one["counts"]["failed"].get("body", 0) == 0


def test_the_session_is_told_as_what_it_is_and_the_answer_names_the_workload(several):
    asked = several["race"]["workloads"]
    assert asked["page"] == ["/hello/"]
    assert asked["browse"][0].startswith("file:///")
    assert several["race"]["limits"] == {"browse": ["nginx/http/waitress"]}
    assert re.match(r"On (page|browse), at [14] connections?, ", several["words"]["answer"])
    assert several["race"]["ending"] == "budget"


def test_it_is_shown_again_in_every_format(several, stackrace, tmp_path):
    identifier = several["race"]["id"]
    assert json.loads(stackrace("report", identifier, "--json").stdout) == several
    assert "browse" in stackrace("report", identifier, "--csv").stdout
    markdown = stackrace("report", identifier, "--markdown").stdout
    terminal = stackrace("report", identifier, "--details").stdout
    for level in several["levels"]:
        heading = f"Standing on {level['workload']} at c={level['load']['concurrency']}, latencies in ms"
        assert f"#### {heading}" in markdown and heading in terminal


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The document of a race in runs, and how many requests each process of the app has seen."""
    folder = tmp_path_factory.mktemp("runs")
    # the only folder here that an app shares with us
    books = Path(os.environ["XDG_CACHE_HOME"], "stackrace", folder.parent.name)
    books.mkdir(parents=True)
    books.chmod(0o777)
    (folder / "counting.py").write_text(APP)
    document = race(folder, RUNS.format(python=sys.executable, books=books))
    return document, {int(book.name): book.stat().st_size for book in books.iterdir()}


@pytest.mark.exhaustive
def test_launches_are_fresh_and_primed_by_a_single_visit(runs):
    document, books = runs
    # the examiner asks a few times; every other process of the app is that of one launch
    served = [seen for seen in books.values() if seen > 50]
    assert len(served) == len(document["launches"])
    assert all(seen < 2 * 50 for seen in served)
