"""Every verb that touches an app starts it through the door: nothing of the project differs afterwards.

The app writes a database and a file beside itself: when it is imported, when it is asked, and in a thread. Nobody
says which interpreter it has, so interpreters are tried.
"""

from __future__ import annotations

import os
import shlex
import sys
from itertools import product

import pytest
from tests.conftest import BRIEF, STACKRACE
from tests.worlds import CACHE, PROJECT, changed

APP = """
import os
import sqlite3
import threading

HERE = os.path.dirname(os.path.abspath(__file__))


def write(when):
    with sqlite3.connect(os.path.join(HERE, "dev.sqlite3")) as connection:
        connection.execute("create table if not exists seen(moment)")
        connection.execute("insert into seen values(?)", (when,))
    connection.close()
    with open(os.path.join(HERE, "log"), "a") as log:
        log.write(when)
    os.utime(HERE)


write("import")
threading.Thread(target=write, args=("thread",)).start()


def app(environ, start_response):
    write("view")
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]
"""
CONFIG = "import app\nbind = '127.0.0.1:8000'\nworkers = 1\napp.write('config')\n"
RACE = '[app]\nwsgi = "app:app"\n[workload]\nurls = ["/"]\n[race]\nstacks = ["waitress"]\nbudget = "60min"\n'
FILES = {
    "app.py": APP,
    "gunicorn.conf.py": CONFIG,
    "Procfile": "web: gunicorn -c gunicorn.conf.py app:app\n",
    "race.toml": RACE,
}
GIVEN = ("--wsgi", "app:app", "--url", "/")
UP = f"""
{STACKRACE} up waitress {shlex.join(GIVEN)} >{CACHE}/log 2>&1 &
until grep -q http:// {CACHE}/log || ! kill -0 $!; do sleep 0.1; done
# what a shell starts in the background hears no SIGINT
kill -TERM $!; wait $!; code=$?; cat {CACHE}/log; exit $code
"""
VERBS = {
    "capacity": (*BRIEF, "capacity", *GIVEN, "--stack", "waitress", "--p50", "1us", "--no-ceiling"),
    "check": (*BRIEF, "check", *GIVEN, "--stack", "waitress", "--head-env", "A=1", "--budget", "60min"),
    "current": (*BRIEF, "run", *GIVEN, "--current", "Procfile", "--stack", "waitress", "-c", "1"),
    "doctor": (STACKRACE, "doctor"),
    "export": (*BRIEF, "export", "race.toml", "waitress", "--prove", "--start-only", "--to", f"{CACHE}/exported"),
    "init": (STACKRACE, "init", "--stdout", *GIVEN),
    "install": (STACKRACE, "install", "race.toml"),
    "load": (*BRIEF, "load", *GIVEN, "--stack", "waitress", "-n", "20", "--no-ceiling"),
    "run": (*BRIEF, "run", *GIVEN, "--stack", "waitress", "--stack", "gunicorn", "-c", "1", "--budget", "60min"),
    "tune": (*BRIEF, "tune", "gunicorn", "--vary", "class", *GIVEN, "-c", "1", "--budget", "60min"),
    "up": ("sh", "-c", UP),
    "current alone": (STACKRACE, "current", "Procfile"),
}

OFTEN = ("check", "current alone", "run")
"""The verbs of which an ordinary run of the tests holds one world; the others wait for the exhaustive one."""

SCENES = [
    pytest.param(verb, world, user, marks=[] if verb in OFTEN and number % 4 == place else pytest.mark.exhaustive)
    for number, verb in enumerate(VERBS)
    for place, (world, user) in enumerate(product(["container", "plain"], ["root", "nobody"]))
]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give every world files of its own")
@pytest.mark.parametrize(("verb", "world", "user"), SCENES)
def test_no_verb_changes_a_project(verb, world, user):
    found = changed(world, user, FILES, *map(str, VERBS[verb]))
    assert found["code"] in (0, 1, 3, 130, 143), found["said"]
    assert not found["differs"], found["said"]


PYTHON = CACHE / "venv" / "bin" / "python"
MAKE = f"""
{shlex.quote(sys.executable)} -m venv --without-pip {CACHE}/venv
echo 'import os; open("{PROJECT}/log", "a")' >>$(echo {CACHE}/venv/lib/python3.*/site-packages)/writes.pth
exec "$@"
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give every world files of its own")
@pytest.mark.parametrize("world", ["container", "plain"])
def test_an_interpreter_that_writes_is_asked_in_the_view_for_a_bundled_app_too(world):
    race = (*BRIEF, "run", "--bundled", "--python", PYTHON, "--stack", "waitress", "-c", "1", "--budget", "60min")
    found = changed(world, "root", FILES, "sh", "-ec", MAKE, "sh", *map(str, race))
    assert found["code"] in (0, 1, 3), found["said"]
    assert not found["differs"], found["said"]
