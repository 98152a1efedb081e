"""A race that was killed or stopped goes on with ``--resume``, as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.conftest import BRIEF
from tests.http_servers import APP
from tests.raced import ended_launches, left_in, raced, wait_until_nothing_is_left

ASKED = ["run", "--wsgi", "tiny:app", "--python", sys.executable, "-c", "1"]
ASKED += ["--requests", "20", "--repeats", "2", "--no-twin"]
ASKED += ["--stack", "waitress", "--stack", "gunicorn:class=gthread", "--seed", "2"]
LAUNCHES = 4


@pytest.fixture(scope="module", autouse=True)
def own_results(tmp_path_factory):
    """The last race that was interrupted is one of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("results")))
        yield


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "tiny.py").write_text(APP)
    return folder


@pytest.fixture(scope="module")
def uninterrupted(project):
    """The order of the launches of a race that nobody disturbed."""
    done = subprocess.run([*BRIEF, *ASKED, "--json"], cwd=project, capture_output=True, text=True, timeout=1800)
    return order_of(raced(done))


@pytest.fixture
def started(project, temporary):
    """Start the command; whatever is still running at the end of the test is ended."""
    processes = []

    def start(*arguments):
        process = subprocess.Popen(
            [*BRIEF, *arguments],
            cwd=project,
            env=os.environ | {"TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def cut_short(launch):
    return launch["failure"] is not None and launch["failure"]["code"] == "interrupted"


def order_of(document):
    return [(one["block"], one["stack"]) for one in document["launches"] if not cut_short(one)]


def wait_for_launches(process, before, number, store=None):
    """Watch the race of ``process``, none of ``before``, until so many launches have ended; returns its id."""
    while process.poll() is None:
        for race, ended in ended_launches(store).items():
            if race not in before and ended >= number:
                return race
        time.sleep(0.02)
    raise AssertionError(f"the race ended too soon: {process.stderr.read()}")


KILLED, INTERRUPTED, CLEARED = "killed", "interrupted", "its run directory removed"


@pytest.mark.parametrize(
    ("how", "launches", "code"),
    [
        pytest.param(KILLED, 2, -9, id=KILLED),
        pytest.param(INTERRUPTED, 1, 130, id=INTERRUPTED, marks=pytest.mark.exhaustive),
        pytest.param(CLEARED, 1, 4, id=CLEARED, marks=pytest.mark.exhaustive),
    ],
)
def test_it_goes_on_in_the_order_of_an_uninterrupted_race(
    uninterrupted, started, brief, stackrace, temporary, tmp_path, how, launches, code
):
    before = ended_launches()
    process = started(*ASKED)
    race = wait_for_launches(process, before, launches)
    assert left_in(temporary)
    if how == CLEARED:
        for directory in temporary.glob("stackrace-*"):
            directory.rename(tmp_path / directory.name)  # all at once: the race still writes into it
    else:
        os.kill(process.pid, signal.SIGKILL if how == KILLED else signal.SIGINT)
    _, said = process.communicate(timeout=1800)
    assert process.returncode == code, said
    wait_until_nothing_is_left(temporary)
    kept = json.loads(stackrace("report", race, "--json").stdout)
    assert kept["race"]["ending"] == (None if how == KILLED else "interrupted")
    assert any(launch["slices"] for launch in kept["launches"])
    command = f"continue with: stackrace run --resume {race}"
    assert command in stackrace("report", race).stderr
    assert (command in said) == (how != KILLED)

    resumed = brief("run", "--resume", "--json", TMPDIR=str(temporary))
    assert f"going on with race {race} after" in resumed.stderr
    document = raced(resumed)
    assert order_of(document) == uninterrupted
    assert len(uninterrupted) == LAUNCHES
    assert (document["race"]["id"], document["race"]["ending"], document["race"]["resumed"]) == (
        race,
        "completed",
        1,
    )
    assert all(row["launches"] <= 2 for row in document["standing"])
    assert "never altered" in stackrace("history", race).stdout
    wait_until_nothing_is_left(temporary)

    again = stackrace("run", "--resume", race)
    assert again.returncode == 2
    assert "was not interrupted: it ended (completed)" in again.stderr


@pytest.mark.exhaustive
def test_what_stands_in_the_way_is_told_and_costs_nothing(
    uninterrupted, project, started, brief, stackrace, temporary
):
    before = ended_launches()
    process = started(*ASKED)
    race = wait_for_launches(process, before, 1)
    os.kill(process.pid, signal.SIGSTOP)  # it must not end before it was asked for
    at_once = stackrace("run", "--resume", race)
    assert (at_once.returncode, "is already running" in at_once.stderr) == (2, True)
    nobody = stackrace("run", "--resume")
    assert (nobody.returncode, "no race was interrupted here" in nobody.stderr) == (2, True)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    (project / "tiny.py").write_text(APP.replace("hello", "HELLO"))
    changed = stackrace("run", "--resume", race, TMPDIR=str(temporary))
    assert (changed.returncode, "the digest of the app's files was" in changed.stderr) == (2, True)
    (project / "tiny.py").write_text(APP)

    flag = stackrace("run", "--resume", race, "--repeats", "9")
    assert (flag.returncode, "--repeats would change" in flag.stderr) == (2, True)
    budget = stackrace("run", "--resume", race, "--budget", "1h")
    assert (budget.returncode, "--budget: race" in budget.stderr) == (2, True)

    resumed = brief("run", "--resume", race[:8], "--json", TMPDIR=str(temporary))
    assert order_of(raced(resumed)) == uninterrupted
    wait_until_nothing_is_left(temporary)


@pytest.mark.exhaustive
def test_a_race_of_another_machine_is_refused(started, stackrace, tmp_path):
    """Its results are here, its lock is not."""
    store = f"sqlite:///{tmp_path}/races.sqlite3"
    process = started(*ASKED, "--store", store)
    race = wait_for_launches(process, (), 1, store)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=1800)
    assert f"stackrace run --resume {race} --store {store}" in said
    elsewhere = stackrace("run", "--resume", race, "--store", store, XDG_DATA_HOME=str(tmp_path / "other"))
    assert (elsewhere.returncode, "another machine" in elsewhere.stderr) == (2, True)
    unnamed = stackrace("run", "--resume", race)
    assert (unnamed.returncode, "give it with --store" in unnamed.stderr) == (2, True)
