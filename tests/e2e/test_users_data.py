"""A project that writes on each request is the same after every verb as before it."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import closing

import pytest
from tests import no_namespaces
from tests.conftest import STACKRACE
from tests.writing_site import digest, make_site


@pytest.fixture(params=["in the project", "beside it"])
def site(request, tmp_path):
    """The project, and the folder that must not change: all of it, its data included."""
    root = tmp_path / "user" / "site"
    yield make_site(root, root if request.param == "in the project" else tmp_path / "user" / "data")
    for database in (tmp_path / "user").rglob("data.sqlite3"):
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("SELECT count(*) FROM visit").fetchone() == (0,)


@pytest.fixture(params=["namespaces", "no namespaces"])
def command(request, monkeypatch, temporary):
    """Return Stackrace's command, where namespaces are to be had, and where they are forbidden."""
    if request.param == "namespaces":
        return [STACKRACE]
    # as root servers then run as another user, who reads what everybody may read
    monkeypatch.setenv("XDG_CACHE_HOME", str(temporary))
    return [sys.executable, no_namespaces.__file__, STACKRACE]


def test_a_race_leaves_it_as_it_is(command, site):
    race_file = site / "race.toml"
    race_file.write_text(
        f"""
        [app]
        python = "{sys.executable}"
        prepare = ["python manage.py collectstatic --no-input", "touch made-by-prepare"]

        [workload]
        urls = ["/", "/static/site.css"]

        [load]
        concurrency = [1]
        requests = 20

        [race]
        stacks = ["nginx/http/waitress"]
        repeats = 1
        twin = false
        """
    )
    before = digest(site.parent)
    asked = [*command, "run", "race.toml", "--html", site.parent.parent / "report.html"]
    done = subprocess.run(asked, cwd=site, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 3), done.stderr
    assert "did not start" not in done.stdout
    assert "wrong answer" not in done.stdout
    assert ("The app ran in a copy of" in done.stdout) == (len(command) > 1)
    assert "The app wrote to a copy of data.sqlite3" in done.stdout
    assert digest(site.parent) == before


def test_init_leaves_it_as_it_is_and_names_its_files(command, site):
    before = digest(site.parent)
    asked = [*command, "init", "--python", sys.executable, "--json"]
    done = subprocess.run(asked, cwd=site, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    survey = json.loads(done.stdout)
    assert survey["app"]["root"] == str(site)
    assert survey["urls"] == ["/", "/visits/"]
    assert survey["static"] == {}
    assert digest(site.parent) == before


@pytest.mark.parametrize(
    "verb",
    [
        ("load", "race.toml", "-n", "50", "--no-ceiling", "--json"),
        (
            "load",
            "--stack",
            "waitress",
            "race.toml",
            "--session",
            "visit.har",
            "--think",
            "none",
            "-n",
            "5",
            "--json",
        ),
        ("capacity", "race.toml", "--p50", "1us", "--no-ceiling", "--json"),
    ],
    ids=["load", "load --session", "capacity"],
)
def test_load_takes_the_race_file_and_leaves_it_as_it_is(stackrace, site, verb):
    """All that the race file says is needed: the app fails without its variable and its prepared file."""
    (site / "wsgi.py").write_text(APP)
    (site / "race.toml").write_text(FILE.format(python=sys.executable))
    (site / "visit.har").write_text(json.dumps(HAR))
    before = digest(site.parent)
    done = impatient(verb, site) if "capacity" in verb else stackrace(*verb, cwd=site)
    assert done.returncode == (1 if "capacity" in verb else 0), done.stderr
    document = json.loads(done.stdout)
    assert "capacity" in verb or document["ok"]
    if (site / "data.sqlite3").exists():
        assert "The app wrote to a copy of data.sqlite3" in done.stdout
    assert digest(site.parent) == before


def impatient(verb, folder):
    """Run ``capacity`` with short trials: what they find is not asked here."""
    names = ("CLOSED_S", "CLOSED_WARMUP_S", "LEAST_S", "WARMUP_S", "REST_S")
    script = (
        "import sys\nfrom stackrace.__main__ import main\nfrom stackrace.api.load import capacity\n"
        f"[setattr(capacity, name, 0.2) for name in {names}]\nmain()"
    )
    asked = [sys.executable, "-c", script, *verb]
    return subprocess.run(asked, cwd=folder, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)


APP = """
import os
import sqlite3

assert os.environ["NEEDED"] == "yes"
assert open("prepared").read() == "done\\n"


def app(environ, start_response):
    with open("written", "a") as log:
        log.write("x")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""

FILE = """
[app]
wsgi = "wsgi:app"
python = "{python}"
env = {{ NEEDED = "yes" }}
prepare = [{{ run = "echo done > prepared", shell = true }}]

[load]
concurrency = [2]

[race]
stacks = ["waitress"]
"""

HAR = {
    "log": {
        "version": "1.2",
        "entries": [
            {
                "startedDateTime": "2026-11-21T20:00:00Z",
                "time": 5,
                "request": {"method": "GET", "url": "http://site.example/", "headers": []},
                "response": {"status": 200},
            }
        ],
    }
}


def test_a_stack_that_is_up_leaves_it_as_it_is(command, site):
    before = digest(site.parent)
    race_file = site.parent.parent / "race.toml"
    race_file.write_text(f'[app]\nroot = "{site}"\npython = "{sys.executable}"\n[race]\nstacks = ["waitress"]\n')
    asked = [*command, "up", race_file]
    with subprocess.Popen(asked, cwd=site, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if answers := re.search(r"http://\S+", line):
                break
        first, second = (_visits(answers[0]) for _ in range(2))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert second == first + 1, "what one request writes, the next one reads"
    assert digest(site.parent) == before


def _visits(url):
    with urllib.request.urlopen(url) as answer:
        answer.read()
    with urllib.request.urlopen(f"{url}visits/") as answer:
        return int(answer.read())
