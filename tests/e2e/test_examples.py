"""Every example, loaded or raced for real as its own race file says, only shorter."""

import json
import shutil
from pathlib import Path

import pytest
from tests.raced import raced, slices_of, told

EXAMPLES = Path(__file__).parents[2] / "examples"

STACKS = {
    "bookshop": ["nginx/uwsgi/uwsgi:processes=2", "gunicorn:workers=2"],
    "flask_notes": ["waitress", "granian"],
    "asgi_clock": ["uvicorn", "granian:interface=asgi"],
    "rack_hello": ["puma", "apache+passenger"],
    "plain_files": ["nginx", "apache"],
}


@pytest.mark.exhaustive
def test_a_published_comparison_races_from_any_folder(brief, stackrace, tmp_path):
    done = brief("run", "historic/lighttpd-2008", "--quick", "--budget", "5min", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["format"] == "stackrace-comparison"
    assert [claim["basis"] for claim in document["claims"]] == ["measured"] * 3 + ["withdrawn", "announced"]
    assert document["parts"][0]["race"]
    again = stackrace("report", "historic/lighttpd-2008", "--json", cwd=tmp_path)
    assert json.loads(again.stdout) == document
    alone = stackrace("report", document["parts"][0]["race"], "--json", cwd=tmp_path)
    assert set(json.loads(alone.stdout)["race"]["workloads"]) == {"ten-kilobytes", "application"}


def test_every_example_is_raced_here():
    # test_outside_server.py, test_check_in_ci.py, unit/cluster/test_kubernetes.py
    elsewhere = {"outside_server", "ci", "kubernetes"}
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == set(STACKS) | elsewhere


RACED = "asgi_clock"
"""The only one that `make test` races; whether an app suits its race file shows as soon as one stack is loaded."""


@pytest.fixture
def project(name, tmp_path):
    return shutil.copytree(EXAMPLES / name, tmp_path / name)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in STACKS if name != RACED])
def test_an_example_is_loaded(name, project, stackrace):
    few = ("-c", "2", "-n", "40", "--no-ceiling", "--json")
    done = stackrace("load", "race.toml", "--stack", STACKS[name][0], *few, cwd=project)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["ok"] == document["scheduled"] == 40


@pytest.mark.parametrize(
    "name", [name if name == RACED else pytest.param(name, marks=pytest.mark.exhaustive) for name in STACKS]
)
def test_an_example_races(name, project, brief):
    arguments = ["--repeats", "1", "--requests", "200", "-c", "5", "--no-twin", "--json"]
    if name == "bookshop":
        # its race file asks for a static file, which only a front end serves
        arguments += ["--url", "/", "--url", "/books/?page=3"]
    for stack in STACKS[name]:
        arguments += ["--stack", stack]
    if name == "asgi_clock":
        arguments += ["--python", str(Path(shutil.which("python3", path="/usr/bin") or "python3"))]
    document = raced(brief("run", "race.toml", *arguments, cwd=project))
    assert told(document) == set(STACKS[name])
    counts = [one["counts"] for one in slices_of(document)]
    assert len(counts) == len(STACKS[name])
    assert all(one["ok"] == one["scheduled"] == 200 for one in counts)
