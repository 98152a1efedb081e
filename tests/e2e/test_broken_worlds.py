"""Every verb on machines that lack something: it works, or says in a sentence what is lacking and the way out.

Nobody is asked to report what he can mend himself, nothing is left behind, and the project stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from tests.broken_worlds import for_everybody, in_world
from tests.conftest import BRIEF
from tests.http_servers import Server, serving
from tests.ordinary import ordinarily

APP = 'def app(e, s):\n    s("200 OK", [("Content-Length", "5")])\n    return [b"hello"]\n'


@dataclass(frozen=True)
class World:
    script: str
    words: tuple[str, ...] = ()
    """What is said where a verb cannot do its work; none where all of them can."""
    code: int = 4
    stranger: bool = False
    namespaces: str = ""
    refused: Mapping[str, str] = field(default_factory=dict)
    """What verbs say that cannot work there although others do."""


NO_NULL = ("this system has no /dev/null", "mknod -m 666 /dev/null c 1 3")
WORLDS = {
    "an ordinary one": World(""),
    "no /dev/null": World("devices null", NO_NULL),
    "a file as /dev/null": World("devices null; touch /dev/null", NO_NULL),
    "no devices at all": World("small /dev size=64k", NO_NULL),
    "no /dev/urandom": World("devices urandom"),
    "no /dev/shm": World("devices shm"),
    "no /proc": World("small /proc size=64k", ("this system has no /proc", "mount -t proc proc /proc")),
    "only processes in /proc": World("mount -t proc -o subset=pid proc /proc"),
    "strangers' processes hidden": World("mount -t proc -o hidepid=2 proc /proc"),
    "no /sys": World("small /sys size=64k"),
    "stdout open for reading": World("exec 1</dev/null", ("standard output is open for reading", "write >"), 2),
    "stdout closed": World("exec 1>&-"),
    "stdout full": World("exec 1>/dev/full", ("the disk is full", "standard output")),
    "stderr open for reading": World("exec 2</dev/null"),
    "stderr closed": World("exec 2>&-"),
    "stderr full": World("exec 2>/dev/full"),
    "nothing open": World("exec 0<&- 1>&- 2>&-"),
    "a folder that is gone": World(
        'D=$(mktemp -d); cd "$D"; rmdir "$D"', ("the folder where this was started is gone", "cd"), 2
    ),
    "TMPDIR here": World("export TMPDIR=."),
    "TMPDIR in a relative folder": World("export TMPDIR=media"),
    "TMPDIR by way of another folder": World('export TMPDIR="$TMPDIR/../$(basename $TMPDIR)"'),
    "TMPDIR missing": World("export TMPDIR=/nowhere/at/all"),
    "TMPDIR a file": World("export TMPDIR=/etc/passwd"),
    "TMPDIR read-only": World('small "$TMPDIR" ro'),
    "TMPDIR full": World('full "$TMPDIR"'),
    "TMPDIR that becomes full": World(
        'small "$TMPDIR" size=8k; head -c 4096 /dev/zero >"$TMPDIR/filling"',
        ("set TMPDIR to a folder with more room",),
    ),
    "TMPDIR without inodes": World('small "$TMPDIR" nr_inodes=4', ("inodes are used up",)),
    "TMPDIR without programs": World('small "$TMPDIR" noexec'),
    "no room for temporary files": World(
        'export TMPDIR=/var/tmp; read_only /tmp; read_only /var/tmp',
        ("no temporary file can be written", "set TMPDIR"),
        # the test's own store lies there
        refused={"report": "there is no folder", "run": "its folder cannot be made"},
    ),
    "no open files": World("ulimit -n 8", ("ulimit -n", "raise that limit"), refused={"load": "raise `ulimit -n`"}),
    "few open files": World("ulimit -n 64", refused={"load": "raise `ulimit -n`", "run": "raise `ulimit -n`"}),
    "no room in files": World("ulimit -f 0", ("ulimit -f",), refused={"report": "ulimit -f", "run": "ulimit -f"}),
    "little room in files": World("ulimit -f 64", refused={"run": "ulimit -f"}),
    "HOME unset": World("unset HOME"),
    "HOME missing": World('export HOME="$TMPDIR/../missing"'),
    "HOME relative": World("another_home; export HOME=home XDG_CACHE_HOME=cache XDG_DATA_HOME=data"),
    "HOME read-only": World('small "$TMPDIR/../ro" ro; export HOME="$TMPDIR/../ro"; unset XDG_CACHE_HOME',
                            refused={"run": "set XDG_CACHE_HOME"}),
    "HOME the root": World("export HOME=/"),
    "a user whom nobody knows": World("", stranger=True),
    "a user whom nobody knows, without HOME": World("unset HOME", stranger=True),
    "HOME of somebody else": World(
        "export HOME=/root; unset XDG_CACHE_HOME", stranger=True,
        refused={"doctor": "Permission denied", "run": "set STACKRACE_STORE"},
    ),
    "a project of somebody else": World("chmod 700 .", ("may not enter", "as that user"), 2, stranger=True),
    "no /etc/passwd": World("mount --bind /dev/null /etc/passwd; mount --bind /dev/null /etc/group"),
    "no PATH": World("unset PATH"),
    "no variables": World(
        "for each in $(compgen -e); do case $each in XDG*|TMP*|*CERT*) ;; *) unset $each;; esac; done"
    ),
    "another language": World("export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"),
    "a language that is not installed": World("export LC_ALL=xx_YY.foo"),
    "no network": World(
        "", namespaces="--net", refused=dict.fromkeys(("load", "run"), "the loopback interface is down")
    ),
    "no names": World("mount --bind /dev/null /etc/hosts; mount --bind /dev/null /etc/resolv.conf"),
    "nonsense of a terminal": World("export TERM=nonsense COLUMNS=abc LINES=-1"),
}  # fmt: skip

VERBS = {
    "stacks": ("stacks",),
    "init": ("init", "--stdout", "--wsgi", "app:app", "--url", "/"),
    "report": ("report",),
    "doctor": ("doctor",),
    "load": ("load", "http://127.0.0.1:{port}/", "-n", "20", "-c", "1"),
    "run": (
        "run",
        "--wsgi",
        "app:app",
        "--url",
        "/",
        "--stack",
        "waitress",
        "--stack",
        "cheroot",
        "--budget",
        "5min",
    ),
}


@pytest.fixture(scope="module")
def port():
    with serving(Server()) as server:
        yield server.server_port


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    """A store with a race."""
    home = tmp_path_factory.mktemp("raced")
    (home / "app.py").write_text(APP)
    store = home / "races.sqlite3"
    words = [*VERBS["run"], "--store", f"sqlite:///{store}", "--python", sys.executable]
    done = subprocess.run([*map(str, BRIEF), *words], cwd=home, check=False, capture_output=True, text=True)
    # a busy machine may spoil every slice
    assert done.returncode in (0, 3), done.stderr
    return store


def listing(folder):
    """Return what lies below ``folder``, with its times."""
    return {path: path.lstat().st_mtime_ns for path in (folder, *folder.rglob("*"))}


@pytest.fixture
def attempt(temporary, raced, port):
    """Return a function that runs a verb in a world, and checks what holds in all of them."""

    def call(world, verb, project=None):
        shop, place = temporary / "shop", temporary / "t"
        shop.mkdir()
        place.mkdir(mode=0o1777)
        (shop / "app.py").write_text(APP)
        shutil.copy(raced, temporary / "races.sqlite3")
        for name in ("cache", "data"):
            (temporary / name).mkdir()
        for_everybody(temporary)
        if project is not None:
            project(shop)
        words = [each.format(port=port) for each in VERBS[verb]]
        if verb == "report":
            words += ["--store", f"sqlite:///{temporary}/races.sqlite3"]
        if verb in ("init", "run"):
            words += ["--python", sys.executable]
        variables = {"TMPDIR": str(place), "XDG_CACHE_HOME": str(temporary / "cache")}
        if world.stranger:
            variables["UV_CACHE_DIR"] = str(temporary / "cache" / "uv")
        if "XDG" not in world.script:
            variables["XDG_DATA_HOME"] = str(temporary / "data")
        command = in_world(world.script, [*BRIEF, *words], stranger=world.stranger, namespaces=world.namespaces)
        before = listing(shop)
        done = subprocess.run(
            command, cwd=shop, env=os.environ | variables, text=True, capture_output=True, errors="replace",
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert listing(shop) == before
        assert not list(place.iterdir()), done.stderr
        assert "please report" not in done.stderr
        assert "Traceback" not in done.stderr
        return done

    return call


def fits(done, world, verb):
    """Tell whether a verb did its work, or said why not; 1 is doctor's no, 3 a race on a busy machine."""
    if done.returncode in (0, 1, 3):
        return True
    said = world.refused.get(verb)
    if done.returncode in (2, 4) and said and said in done.stderr:
        return True
    return done.returncode == world.code and world.words and all(words in done.stderr for words in world.words)


OFTEN = ("no /dev/null", "no /proc", "stdout open for reading", "no open files", "TMPDIR without inodes")


@pytest.mark.parametrize("name", ordinarily([name for name, world in WORLDS.items() if world.words], OFTEN))
def test_a_machine_that_lacks_something_is_told_the_way_out(attempt, name):
    world = WORLDS[name]
    done = attempt(world, "init")
    assert (done.returncode, fits(done, world, "init")) == (world.code, True), done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", WORLDS)
def test_every_verb_works_or_says_what_this_machine_lacks(attempt, name, verb):
    world = WORLDS[name]
    done = attempt(world, verb)
    assert fits(done, world, verb), (done.returncode, done.stderr)
    assert world.words or verb == "doctor" or done.returncode != 1, done.stderr


def test_the_current_deployment_in_a_folder_of_somebody_else_is_refused_with_whose_it_is(tmp_path):
    command = in_world("chmod 700 .", [*BRIEF, "current"], stranger=True)
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "may not enter" in done.stderr and "run Stackrace as that user" in done.stderr


@pytest.mark.parametrize("stranger", [False, True], ids=["root", "stranger"])
@pytest.mark.parametrize("place", ["$TMPDIR/../mounted", "mounted"], ids=["beside", "within"])
def test_an_app_writes_in_its_project_whatever_is_mounted_near(attempt, place, stranger):
    def project(shop):
        (shop / "mounted").mkdir()
        (shop / "app.py").write_text(f"open('needed', 'w')\n{APP}")

    world = World(f'mkdir -p "{place}"; small "{place}" size=1m', stranger=stranger)
    done = attempt(world, "init", project)
    assert done.returncode == 0, done.stderr
