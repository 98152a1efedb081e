"""A project that writes on each request is the same after every verb as before it."""

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
from itertools import product

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


VISIT = ("visit.har", "--think", "none", "-n", "5", "--json")


@pytest.mark.parametrize(
    "verb",
    [
        ("load", "race.toml", "-n", "50", "--no-ceiling", "--json"),
        ("load", "--stack", "waitress", "race.toml", "--session", *VISIT),
        ("capacity", "race.toml", "--p50", "1us", "--no-ceiling", "--json"),
    ],
    ids=["load", "load --session", "capacity"],
)
def test_load_takes_the_race_file_and_leaves_it_as_it_is(brief, site, verb):
    """All that the race file says is needed: the app fails without its variable and its prepared file."""
    (site / "wsgi.py").write_text(APP)
    (site / "race.toml").write_text(FILE.format(python=sys.executable))
    (site / "visit.har").write_text(json.dumps(HAR))
    before = digest(site.parent)
    done = brief(*verb, cwd=site)
    assert done.returncode == (1 if "capacity" in verb else 0), done.stderr
    document = json.loads(done.stdout)
    assert "capacity" in verb or document["ok"]
    if (site / "data.sqlite3").exists():
        assert "The app wrote to a copy of data.sqlite3" in done.stdout
    assert digest(site.parent) == before


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
        _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert second == first + 1, "what one request writes, the next one reads"
    assert digest(site.parent) == before


def _visits(url):
    with urllib.request.urlopen(url) as answer:
        answer.read()
    with urllib.request.urlopen(f"{url}visits/") as answer:
        return int(answer.read())


LIVING = """
import select, sqlite3, sys

busy, idle = (sqlite3.connect(name, isolation_level=None, timeout=60) for name in ("busy.sqlite3", "idle.sqlite3"))
for connection in (busy, idle):
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("CREATE TABLE visit (at INTEGER PRIMARY KEY)")
idle.execute("INSERT INTO visit VALUES (0)")
written = 0
while True:
    if written == 1 or select.select([sys.stdin], [], [], 0.001)[0] and sys.stdin.readline():
        there = (each.execute("SELECT count(*) FROM visit").fetchone()[0] for each in (busy, idle))
        print(written, *there, flush=True)
    written += 1
    busy.execute("INSERT INTO visit VALUES (?)", (written,))
"""

LIVING_APP = """
import sqlite3


def app(environ, start_response):
    for name in ("busy.sqlite3", "idle.sqlite3"):
        connection = sqlite3.connect(name, timeout=60)
        with connection:
            connection.execute("INSERT INTO visit SELECT max(at) + 1 FROM visit")
        connection.close()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""

LIVING_FILE = """
[app]
wsgi = "wsgi:app"
python = "{python}"

[load]
concurrency = [1]
requests = 20

[race]
stacks = ["waitress"]
repeats = 1
twin = false
"""

LIVING_FLAGS = ("--wsgi", "wsgi:app", "--python", sys.executable)


@pytest.fixture(scope="module")
def living(tmp_path_factory):
    """A project with two databases in WAL mode, which its development server has open; it writes to one of them."""
    folder = tmp_path_factory.mktemp("living")
    (folder / "wsgi.py").write_text(LIVING_APP)
    (folder / "race.toml").write_text(LIVING_FILE.format(python=sys.executable))
    (folder / ".gitignore").write_text("*.sqlite3*\n")
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "some"]):
        told = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *words]
        subprocess.run(told, cwd=folder, check=True)
    (folder / "wsgi.py").write_text(f"{LIVING_APP}\nVERSION = 2\n")
    process = subprocess.Popen(
        [sys.executable, "-c", LIVING], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "1 1 1\n"

    def rows():
        """Return the rows that were written, and those that are there, in each database."""
        process.stdin.write("\n")
        process.stdin.flush()
        return process.stdout.readline().split()

    yield folder, rows
    process.kill()
    process.communicate()


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


LIVING_VERBS = [
    ("run", "race.toml"),
    ("check", *LIVING_FLAGS, "--base", "HEAD", "--stack", "waitress", "--budget", "8s"),
    ("init", *LIVING_FLAGS, "--json"),
    ("load", "--stack", "waitress", "race.toml", "-n", "20", "--no-ceiling", "--json"),
    ("tune", "waitress", "--vary", "threads", *LIVING_FLAGS, "-c", "1", "--budget", "8s"),
    ("up", "race.toml"),
    ("record", "race.toml", "--out", "../visit.har"),
]
"""The first two also where the app runs in a copy, which is the same for all others."""


@pytest.mark.parametrize(
    ("command", "verb"),
    [*product(["namespaces"], LIVING_VERBS), *product(["no namespaces"], LIVING_VERBS[:2])],
    ids=lambda each: each if isinstance(each, str) else each[0],
    indirect=["command"],
)
def test_what_a_development_server_writes_meanwhile_is_neither_lost_nor_in_the_way(command, living, verb):
    folder, rows = living
    with untouched(*folder.glob("idle.sqlite3*")):
        if verb[0] in ("up", "record"):
            code, said = interrupted([*command, *verb], folder)
        else:
            done = subprocess.run([*command, *verb], cwd=folder, capture_output=True, text=True, timeout=300)
            code, said = done.returncode, done.stderr
    # a busy machine may refuse to answer
    assert code in (0, 1, 3) or "is too short" in said, said
    assert "all the time" not in said
    written, busy, idle = rows()
    assert (busy, idle) == (written, "1")


def interrupted(command, folder):
    """Run ``command``, ask once what it serves, then press Ctrl-C; returns its exit code and what it said."""
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True
    ) as process:
        said = ""
        for line in process.stdout:
            said += line
            if answers := re.search(r"http://[\d.]+:\d+/", line):
                with urllib.request.urlopen(answers[0]) as answer:
                    assert answer.read() == b"hello"
                break
        process.send_signal(signal.SIGINT)
        said += process.communicate(timeout=60)[0]
    return process.returncode, said
