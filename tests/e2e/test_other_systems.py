"""On macOS and Windows results are read, and whatever races says how to go on."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.core.cli.test_compare import save
from tests.factories import make_race
from tests.ports import free_port

from stackrace.store import open_store

ELSEWHERE = Path(__file__).parents[1] / "elsewhere.py"
SYSTEMS = {"darwin": "macOS", "win32": "Windows"}


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request):
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store with a race, two loads and a project with a deployment."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with open_store(f"sqlite:///{folder / 'races.sqlite3'}") as store:
        store.begin(make_race(2, blocks=2))
    save(folder / "a.json", 1000.0)
    save(folder / "b.json", 1500.0)
    (folder / "Procfile").write_text("web: gunicorn shop:app --workers 3\n")
    (folder / "shop.py").write_text("def app(environ, start_response): ...\n")
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


@pytest.fixture
def call(system, folder):
    """Run a verb there."""

    def run(*words, **options):
        store = (
            ["--store", f"sqlite:///{folder / 'races.sqlite3'}"]
            if words[:1] and words[0] in ("report", "trend", "web")
            else []
        )
        return options.pop("start", subprocess.run)(
            [sys.executable, str(ELSEWHERE), system, *words, *store], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
        )  # fmt: skip

    return run


def said(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_command_starts(call):
    assert "Race stacks" in said(call("--help"))
    assert said(call("--version")).startswith("stackrace")
    assert "_STACKRACE_COMPLETE" in said(call("completion", "zsh"))


def test_the_command_alone_offers_only_what_works_there(call):
    told = said(call())
    assert "In this folder:" in told and "needs Linux" in told
    offered = told.partition("Try:\n")[2].partition("\n\n")[0]
    assert [line.split()[1] for line in offered.splitlines()] == ["current", "report", "web"]


@pytest.mark.parametrize("verb", ["run", "check", "tune", "capacity", "load", "up", "doctor", "install", "stacks"])
def test_what_starts_servers_says_how_to_go_on(call, system, verb):
    done = call(verb)
    assert done.returncode == 2
    (sentence,) = done.stderr.splitlines()
    assert f"stackrace {verb} needs Linux, and this is {SYSTEMS[system]}" in sentence
    assert "docker run" in sentence and "cluster" in sentence


def test_a_report_is_shown_in_every_format(call, folder, tmp_path):
    assert "nginx/uwsgi/uwsgi leads" in said(call("report"))
    assert json.loads(said(call("report", "--json")))["version"] == 2
    assert said(call("report", "--markdown")).startswith("**")
    said(call("report", "--html", str(tmp_path / "report.html")))
    assert "<!doctype html>" in (tmp_path / "report.html").read_text()
    assert len(said(call("report", "--list")).splitlines()) == 1


def test_loads_are_compared(call):
    assert "Throughput" in said(call("compare", "a.json", "b.json"))


def test_a_trend_is_shown(call):
    assert "shop" in said(call("trend", "shop"))


def test_a_project_in_git_is_looked_for(call):
    done = call("trend")
    assert done.returncode == 2
    assert "no stored race is of the project in this folder" in done.stderr


def test_the_deployment_is_read(call):
    found = json.loads(said(call("current", "--json")))
    assert found["deployment"]["stack"].startswith("gunicorn")


def test_races_are_browsed(call):
    with call(
        "web", "--port", str(free_port()), start=subprocess.Popen, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as process:
        try:
            address = re.search(r"http://\S+/", process.stdout.readline())[0]
            with urllib.request.urlopen(address) as page:
                assert b"<!doctype html>" in page.read().lower()
        finally:
            process.terminate()
