"""An app that writes everywhere changes nothing: not of its project, nor of the user's home or shared folders.

It runs in each world, as root and as nobody: where namespaces are to be had, where they are forbidden, and where
Landlock is missing, too.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import product

import pytest
from tests.conftest import BRIEF, STACKRACE
from tests.worlds import HOME, PROJECT, SHARED, USERS, WORLDS, changed

APP = """
import ctypes
import os
import shutil
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = Path.home()
PLACES = ["relative", HERE / "file", Path("/srv/home/code", "project", "whole"), HOME / ".x", HOME / "new" / "x"]
PLACES += [HOME / ".cache" / "x" / "y", HOME / ".config" / "x", HOME / ".local" / "share" / "x"]
PLACES += ["/srv/home/.spelled", Path(tempfile.gettempdir(), "x"), "/tmp/x", "/var/tmp/x"]
THERE = [Path("there"), HERE / "there", Path("/srv/home/code", "project", "there"), HOME / "there"]
THERE += [HOME / ".cache" / "there", HOME / ".config" / "there", Path("/tmp/there"), Path("/var/tmp/there")]
THERE += [Path("/srv/home", ".spelled")]


def write(when):
    for place in PLACES:
        place = Path(f"{place}-{when}")
        tried(lambda: place.parent.mkdir(parents=True))
        tried(lambda: place.write_text("x"))
    for place in THERE:
        tried(lambda: place.open("a").write("x"))
        tried(lambda: os.truncate(place, 1))
        tried(lambda: place.rename(f"{place}-{when}"))
        tried(lambda: Path(f"{place}-link-{when}").hardlink_to(place))
        tried(lambda: place.unlink())
    tried(lambda: os.mkfifo(f"/tmp/pipe-{when}"))
    tried(lambda: shutil.rmtree(HOME / ".config"))


def tried(action):
    try:
        action()
    except OSError:
        pass


write("import")


def app(environ, start_response):
    write("view")
    thread = threading.Thread(target=write, args=("thread",))
    thread.start()
    thread.join()
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]
"""
MEMORY = """
libc = ctypes.CDLL(None)
libc.shmget(4711, 4096, 0o1600)
libc.semget(4711, 1, 0o1600)
libc.msgget(4711, 0o1600)
tried(lambda: Path("/dev/shm/left").write_text("x"))
"""
LETTERS = {"shm": "m", "sem": "s", "msg": "q"}
GIVEN = ("--wsgi", "app:app", "--url", "/", "--python", sys.executable)
VERBS = {
    "init": (STACKRACE, "init", "--stdout", *GIVEN),
    "load": (*BRIEF, "load", *GIVEN, "--stack", "waitress", "-n", "20", "--no-ceiling"),
    "run": (*BRIEF, "run", *GIVEN, "--stack", "waitress", "--stack", "gunicorn", "-c", "1", "--budget", "60min"),
    "tune": (*BRIEF, "tune", "gunicorn", "--vary", "class", *GIVEN, "-c", "1", "--budget", "60min"),
    "check": (*BRIEF, "check", *GIVEN, "--base", "HEAD", "--stack", "waitress", "-c", "1", "--budget", "60min"),
    "capacity": (*BRIEF, "capacity", *GIVEN, "--stack", "waitress", "--p50", "1us", "--no-ceiling"),
}
RIGHT = (0, 1, 3)
"""Codes of verbs that did what was asked; a busy machine may refuse an answer."""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give every world files of its own")
worlds = pytest.mark.parametrize("world", WORLDS)
users = pytest.mark.parametrize("user", USERS)
OFTEN = (("plain", "root"), ("container", "nobody"))
"""The worlds of an ordinary run of the tests; the others wait for the exhaustive one."""


def held(world):
    return "without Landlock" not in world


def differing(found, world):
    """Return what differs; without Landlock what was written by a whole path does."""
    if held(world):
        return found["differs"]
    spelled = (f"{HOME}/.spelled", str(PROJECT), *(f"{folder}/" for folder in SHARED))
    return [name for name in found["differs"] if not name.startswith(spelled)]


@pytest.mark.parametrize(
    ("world", "user"),
    [
        pytest.param(world, user, marks=[] if (world, user) in OFTEN else pytest.mark.exhaustive)
        for world, user in product(WORLDS, USERS)
    ],
)
def test_what_an_app_writes_anywhere_goes_with_the_race(world, user):
    found = changed(world, user, {"app.py": APP}, *map(str, VERBS["init"]))
    assert found["code"] == 0, found["said"]
    assert not differing(found, world), found["said"]


MOUNTED = """
mkdir ~/odd && mount --bind /proc ~/odd || exit 9
"$@"
code=$?
umount ~/odd && rmdir ~/odd && exit $code
"""


def test_a_home_with_an_odd_file_system_in_it_is_covered():
    """No overlay lies over /proc: it stays as it is, and read-only."""
    found = changed("plain", "root", {"app.py": APP}, "sh", "-c", MOUNTED, "sh", *map(str, VERBS["init"]))
    assert found["code"] == 0, found["said"]
    assert not found["differs"], found["said"]
    assert "cannot write" not in found["said"]


DEEP = """
layers=$(mktemp --directory --tmpdir=/srv)
mount -t tmpfs none $layers && mkdir $layers/1 $layers/2 $layers/w1 $layers/w2 $layers/own || exit 9
mount --bind . $layers/own
for each in 1 2; do
    mount -t overlay -o lowerdir=/srv/home,upperdir=$layers/$each,workdir=$layers/w$each none /srv/home || exit 9
done
mount --bind $layers/own ~/code/project && cd ~/code/project || exit 9
"$@"
code=$?
cd / && umount ~/code/project /srv/home /srv/home && umount --recursive $layers && rmdir $layers && exit $code
"""
"""The kernel has no third overlay over two."""


def test_a_home_that_no_overlay_covers_stays_as_it_is_and_the_project_is_covered():
    app = f"{APP}\n\nopen(HERE / 'needed', 'w')\n"
    found = changed("plain", "root", {"app.py": app}, "sh", "-c", DEEP, "sh", *map(str, VERBS["init"]))
    assert found["code"] == 0, found["said"]
    assert not found["differs"], found["said"]
    # /tmp stands before it where the checkout lies there
    assert re.search(r"The app cannot write to (\S+, )*/srv/home/\.spelled: ", " ".join(found["said"].split()))


def test_an_app_that_cannot_do_without_names_the_path_and_the_way_out():
    app = "open('/tmp/needed', 'w')\n\n\ndef app(environ, start_response): ..."
    found = changed("container", "nobody", {"app.py": app}, *map(str, VERBS["init"]))
    said = " ".join(found["said"].split())
    assert found["code"] == 2, said
    assert "Nothing is written to /tmp/needed, for a race cannot have its own view of the files here: lead" in said
    assert "by a variable, [app] env, or race as a user who may make namespaces" in said


@pytest.mark.exhaustive
@pytest.mark.parametrize("world", ["plain", "container"])
def test_shared_memory_that_an_app_leaves_goes_with_the_race_or_is_named(world):
    found = changed(world, "nobody", {"app.py": APP + MEMORY}, *map(str, VERBS["init"]))
    said = " ".join(found["said"].split())
    assert ("remove what is the app's: " in said) == (world != "plain"), found["said"]
    named = [f"rm {name}" if "/" in name else f"ipcrm -{LETTERS[name[:3]]} {name[4:]}" for name in found["differs"]]
    assert len(named) == (0 if world == "plain" else 4)
    assert all(removal in said for removal in named)


@pytest.mark.exhaustive
@worlds
@users
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "init"])
def test_what_an_app_writes_anywhere_goes_with_the_race_after_every_verb(world, user, verb):
    found = changed(world, user, {"app.py": APP}, *map(str, VERBS[verb]))
    assert found["code"] in RIGHT, found["said"]
    assert not differing(found, world), found["said"]
