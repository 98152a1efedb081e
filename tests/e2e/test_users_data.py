"""A project that writes on each request is the same after every verb as before it.

Meanwhile its development server writes to one of its databases, and holds another open: see ``LIVING``.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import closing, contextmanager

import pytest
from tests import no_namespaces
from tests.conftest import BRIEF, STACKRACE
from tests.writing_site import digest, make_site

LIVING = """
import select, sqlite3, sys

busy, idle = (sqlite3.connect(name, isolation_level=None, timeout=60) for name in ("busy.sqlite3", "idle.sqlite3"))
for connection in (busy, idle):
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = off")
    connection.execute("CREATE TABLE visit (at INTEGER PRIMARY KEY)")
idle.execute("INSERT INTO visit VALUES (0)")
written = 0
while True:
    if written == 1 or select.select([sys.stdin], [], [], 0.003)[0] and sys.stdin.readline():
        there = (each.execute("SELECT count(*) FROM visit").fetchone()[0] for each in (busy, idle))
        print(written, *there, flush=True)
    written += 1
    busy.execute("INSERT INTO visit VALUES (?)", (written,))
"""

PLAIN_APP = """
import sqlite3


def app(environ, start_response):
    for name in ("busy.sqlite3", "idle.sqlite3"):
        connection = sqlite3.connect(name, timeout=60)
        with connection:
            connection.execute("INSERT INTO visit SELECT max(at) + 1 FROM visit")
        connection.close()
    with open("written", "a") as log:
        log.write("x")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""

NEEDY_APP = """
import os

from plain import app

assert os.environ["NEEDED"] == "yes"
assert open("prepared").read() == "done\\n"
"""

NEEDY_FILE = """
[app]
wsgi = "needy:app"
python = "{python}"
env = {{ NEEDED = "yes" }}
prepare = [{{ run = "echo done > prepared", shell = true }}]

[load]
concurrency = [2]

[race]
stacks = ["waitress"]
"""

DJANGO_FILE = """
[app]
django = "settings"
python = "{python}"
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


CHANGING = ("busy.sqlite3", ".git")
"""How the names of those begin that change meanwhile: a check makes and removes a work tree."""


@pytest.fixture(scope="module")
def living(tmp_path_factory):
    """The project, which is a repository, with half of its data beside it; what its development server wrote."""
    user = tmp_path_factory.mktemp("living") / "user"
    site = make_site(user / "site", user / "data")
    (site / "plain.py").write_text(PLAIN_APP)
    (site / "needy.py").write_text(NEEDY_APP)
    (site / "django.toml").write_text(DJANGO_FILE.format(python=sys.executable))
    (site / "needy.toml").write_text(NEEDY_FILE.format(python=sys.executable))
    (site / "visit.har").write_text(json.dumps(HAR))
    (site / ".gitignore").write_text("*.sqlite3*\n")
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "some"]):
        told = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *words]
        subprocess.run(told, cwd=site, check=True)
    (site / "plain.py").write_text(f"{PLAIN_APP}\nVERSION = 2\n")
    process = subprocess.Popen(
        [sys.executable, "-c", LIVING], cwd=site, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "1 1 1\n"

    def rows():
        """Return the rows that were written, and those that are there, in each database."""
        process.stdin.write("\n")
        process.stdin.flush()
        return process.stdout.readline().split()

    yield site, rows
    process.kill()
    process.communicate()


@pytest.fixture
def site(living):
    """The project, which must be the same afterwards, all of it; what is written meanwhile is not lost."""
    folder, rows = living
    user = folder.parent
    before = digest(user, CHANGING)
    with untouched(*folder.glob("idle.sqlite3*")):
        yield folder
    assert digest(user, CHANGING) == before
    for database in (folder / "data.sqlite3", user / "data" / "other.sqlite3"):
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("SELECT count(*) FROM visit").fetchone() == (0,)
    written, busy, idle = rows()
    assert (busy, idle) == (written, "1")


@contextmanager
def untouched(*paths):
    """Afterwards nobody had opened one of ``paths`` to write, nor changed it. Source: inotify(7)."""
    libc = ctypes.CDLL(None)
    handle = libc.inotify_init1(os.O_NONBLOCK)
    modify, attributes, close_write = 0x2, 0x4, 0x8
    for path in paths:
        assert libc.inotify_add_watch(handle, os.fsencode(path), modify | attributes | close_write) >= 0
    before = [path.stat() for path in paths]
    yield
    with pytest.raises(BlockingIOError):
        os.read(handle, 4096)
    os.close(handle)
    for status, path in zip(before, paths, strict=True):
        now = path.stat()
        assert (status.st_ino, status.st_size, status.st_mtime_ns) == (now.st_ino, now.st_size, now.st_mtime_ns)


@pytest.fixture(params=["namespaces", "no namespaces"])
def prefix(request, monkeypatch, temporary):
    """What stands before a command, where namespaces are to be had, and where they are forbidden."""
    if request.param == "namespaces":
        return []
    # as root servers then run as another user, who reads what everybody may read
    monkeypatch.setenv("XDG_CACHE_HOME", str(temporary))
    return [sys.executable, no_namespaces.__file__]


in_a_copy_it_is_rare = pytest.mark.parametrize(
    "prefix", ["namespaces", pytest.param("no namespaces", marks=pytest.mark.exhaustive)], indirect=True
)
"""Where namespaces are forbidden the app runs in a copy, whatever the verb: the race above holds that."""


def called(command, site, *codes):
    """Run a verb to its end; returns what it printed."""
    done = subprocess.run(command, cwd=site, capture_output=True, text=True, timeout=1800)
    assert done.returncode in codes, done.stderr
    assert "all the time" not in done.stderr
    return done.stdout


def test_a_race_leaves_it_as_it_is(prefix, site, tmp_path):
    # a busy machine may refuse to answer
    said = called([*prefix, *BRIEF, "run", "django.toml", "--details", "--html", tmp_path / "r.html"], site, 0, 3)
    assert "did not start" not in said
    assert "wrong answer" not in said
    assert ("The app ran in a copy of" in said) == bool(prefix)
    copied = " ".join(said.split()).partition("The app wrote to a copy of ")[2].partition(", made in")[0]
    assert {"data.sqlite3", "other.sqlite3", "busy.sqlite3", "idle.sqlite3"} <= set(copied.split())


def test_data_that_a_copy_cannot_cover_are_named_and_no_race_touches_them(tmp_path):
    """Nobody can have a whole path lead elsewhere where namespaces are forbidden."""
    user = tmp_path / "user"
    site = make_site(user / "site", user / "data", whole_path=True)
    before = digest(user)
    command = [sys.executable, no_namespaces.__file__, *BRIEF, "run", "--python", sys.executable]
    done = subprocess.run(command, cwd=site, capture_output=True, text=True, timeout=1800)
    assert (done.returncode, digest(user)) == (2, before)
    said = " ".join(done.stderr.split())
    assert f"the app writes to {user}/data/other.sqlite3, {user}/data/media, which is not copied" in said
    assert "Lead the app elsewhere by a variable, [app] env" in said


@in_a_copy_it_is_rare
def test_init_leaves_it_as_it_is_and_names_its_files(prefix, site):
    survey = json.loads(called([*prefix, STACKRACE, "init", "--python", sys.executable, "--json"], site, 0))
    assert survey["app"]["root"] == str(site)
    assert survey["urls"] == ["/", "/visits/"]
    assert survey["static"] == {}


VISIT = ("visit.har", "--think", "none", "-n", "5", "--json")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "verb",
    [
        ("load", "needy.toml", "-n", "50", "--no-ceiling", "--json"),
        pytest.param(
            ("load", "--stack", "waitress", "needy.toml", "--session", *VISIT), marks=pytest.mark.exhaustive
        ),
        pytest.param(
            ("capacity", "needy.toml", "--p50", "1us", "--no-ceiling", "--json"), marks=pytest.mark.exhaustive
        ),
    ],
    ids=["load", "load --session", "capacity"],
)
def test_load_takes_the_race_file_and_leaves_it_as_it_is(site, verb):
    """All that the race file says is needed: the app fails without its variable and its prepared file."""
    said = called([*BRIEF, *verb], site, 1 if "capacity" in verb else 0)
    assert "capacity" in verb or json.loads(said)["ok"]
    assert "The app wrote to a copy of" in said


PLAIN = ("--wsgi", "plain:app", "--python", sys.executable, "-c", "1", "--budget", "60min")


@pytest.mark.exhaustive
@in_a_copy_it_is_rare
def test_a_check_leaves_it_as_it_is(prefix, site):
    called([*prefix, *BRIEF, "check", *PLAIN, "--base", "HEAD", "--stack", "waitress"], site, 0, 1, 3)


@pytest.mark.exhaustive
def test_a_tuning_leaves_it_as_it_is(site):
    called([*BRIEF, "tune", "gunicorn", "--vary", "class", *PLAIN], site, 0, 3)


@pytest.mark.exhaustive
@in_a_copy_it_is_rare
def test_a_stack_that_is_up_leaves_it_as_it_is(prefix, site):
    with interrupted([*prefix, STACKRACE, "up", "django.toml"], site) as address:
        first, second = (visits(address) for _ in range(2))
    assert second == first + 1, "what one request writes, the next one reads"


def visits(address):
    """Visit the page; returns how often that was done so far."""
    with urllib.request.urlopen(address) as answer:
        answer.read()
    with urllib.request.urlopen(f"{address}visits/") as answer:
        return int(answer.read())


@contextmanager
def interrupted(command, folder):
    """Run ``command``, give the address of what it serves, then press Ctrl-C."""
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True
    ) as process:
        said = ""
        for line in process.stdout:
            said += line
            if answers := re.search(r"http://[\d.]+:\d+/", line):
                yield answers[0]
                break
        process.send_signal(signal.SIGINT)
        said += process.communicate(timeout=1800)[0]
    assert process.returncode == 0, said
    assert "all the time" not in said
