"""A tuning as a user runs it, on a real server."""

import json
import sys

import jsonschema
import pytest
from tests.http_servers import APP


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "tiny.py").write_text(APP)
    return folder


APP_FLAGS = ("--wsgi", "tiny:app", "--python", sys.executable)


def test_a_tuning_gives_a_stack_that_races_and_is_shown_again(brief, stackrace, project, tmp_path):
    page, store = tmp_path / "tuned.html", f"sqlite:///{tmp_path / 'races.sqlite3'}"
    done = brief(
        "tune", "gunicorn", "--vary", "class", *APP_FLAGS, "-c", "4", "--budget", "5min", "--memory", "1GiB",
        "--json", "--html", str(page), "--store", store, "--seed", "3", cwd=project,
    )  # fmt: skip
    # every slice may be refused on a busy machine
    assert done.returncode in (0, 3), done.stderr
    document = json.loads(done.stdout)
    schema = stackrace("tune", "--schema")
    jsonschema.validate(document, json.loads(schema.stdout))
    assert document["asked"]["limits"]["memory_bytes"] == 2**30
    assert document["asked"]["piloted"]
    assert set(document["asked"]["settings"]) >= {"gunicorn", "gunicorn:class=gthread"}
    assert page.read_text().rstrip().endswith("</html>")
    if done.returncode == 0:
        assert document["found"]["stack"] in document["asked"]["settings"]
        again = stackrace("report", document["race"], "--store", store)
        assert f"stackrace run --stack {document['found']['stack']}" in again.stdout.replace("'", "")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("gunicorn", "--goal", "fast"), "--goal 'fast' is no goal"),
        (("gunicorn", "--goal", "p99 at 10/s", "-c", "4"), "-c is for the goal throughput"),
        (("gunicorn", "--budget", "5s"), "--budget 5 s is too short"),
        (("gunicorn", "--resume"), "gunicorn would change the tuning"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence_with_exit_code_2(stackrace, project, arguments, word):
    done = stackrace("tune", *arguments, *(() if "--resume" in arguments else APP_FLAGS), cwd=project)
    assert done.returncode == 2
    assert word in done.stderr
    assert "Traceback" not in done.stderr
