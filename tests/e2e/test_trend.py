"""Two races of a project in git, and its trend."""

import json
import subprocess
import sys

import jsonschema
import pytest
from tests.conftest import STACKRACE, calling
from tests.http_servers import APP

from stackrace.features.trend.kind import schema


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    (folder / "tiny.py").write_text(APP)
    for words in ("init", "add .", "-c user.name=t -c user.email=t@localhost commit -m first"):
        subprocess.run(["git", "-C", str(folder), *words.split()], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def raced(project, tmp_path_factory):
    store = f"sqlite:///{tmp_path_factory.mktemp('store') / 'races.sqlite3'}"
    for _ in range(2):
        words = f"run --wsgi tiny:app --stack waitress -c 2 --requests 100 --repeats 1 --json --store {store}"
        done = calling(STACKRACE)(*words.split(), "--python", sys.executable, cwd=project)
        assert done.returncode in (0, 3), done.stderr
    return store


@pytest.mark.exhaustive
def test_races_of_one_project_are_one_series(raced, project, stackrace, tmp_path):
    page = tmp_path / "trend.html"
    done = stackrace("trend", "--json", "--html", page, "--store", raced, cwd=project)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.Draft202012Validator(json.loads(schema())).validate(document)
    commit = subprocess.check_output(["git", "-C", str(project), "rev-parse", "HEAD"], text=True)
    assert document["races"] + sum(document["left_out"].values()) == 2
    for series in document["series"]:
        assert {point["source"] for point in series["points"]} == {commit[:7]}
    assert "<html" in page.read_text()
    # a busy machine may have spoilt the only slice of either
    few = "Too few comparable races" if document["series"] else "No race of it can be shown"
    assert few in stackrace("trend", project, "--store", raced).stdout
    assert "# Trend of" in stackrace("trend", "--markdown", "--store", raced, cwd=project).stdout


def test_what_has_no_race_is_refused_with_what_has(raced, stackrace, tmp_path):
    for words in ((), ("nobody",)):
        done = stackrace("trend", *words, "--store", raced, cwd=tmp_path)
        assert done.returncode == 2
        assert "(2 races)" in done.stderr
    done = stackrace("trend", "--json", "--markdown", "--store", raced)
    assert (done.returncode, "only one" in done.stderr) == (2, True)


def test_an_empty_store_is_said(stackrace, tmp_path):
    done = stackrace("trend", "--store", f"sqlite:///{tmp_path / 'empty.sqlite3'}")
    assert "nothing has been raced yet" in done.stderr
