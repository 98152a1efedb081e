"""A race as a user runs it, on real stacks, from the first command to every report."""

import csv
import io
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.conftest import BRIEF, STACKRACE, calling
from tests.http_servers import APP
from tests.raced import left_in, raced, wait_until_nothing_is_left

STACKS = ["gunicorn:workers=1", "waitress"]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "tiny.py").write_text(APP)
    return folder


ASKED = ["run", "--wsgi", "tiny:app", "--python", sys.executable, "--budget", "60min", "-c", "4"]
ASKED += [word for stack in STACKS for word in ("--stack", stack)]


@pytest.fixture(scope="module")
def done(project):
    """One real race; its JSON document, and what went to stderr."""
    return calling(*BRIEF)(*ASKED, "--json", cwd=project)


@pytest.fixture(scope="module")
def document(done):
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout)


def test_the_standing_lists_every_stack_with_its_tier_and_limits(document):
    assert {row["stack"] for row in document["standing"]} == set(STACKS)
    for row in document["standing"]:
        assert row["tier"] >= 1
        throughput = row["throughput"]
        assert throughput["value"] > 0
        assert throughput["low"] is None or throughput["low"] <= throughput["value"] <= throughput["high"]


def advised(done, sentence):
    """Return the only command behind ``sentence`` in what a race said, as a shell would take it."""
    (line,) = (line for line in done.stderr.splitlines() if line.startswith(sentence))
    name, *words = shlex.split(line.removeprefix(sentence))
    assert name == "stackrace"
    return [str(STACKRACE), *words]


@pytest.mark.exhaustive
def test_the_load_that_a_race_advises_works_as_it_stands(done, document, project):
    command = [*advised(done, "Load it as here: "), "-n", "100", "--no-ceiling"]
    again = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=1800)
    assert again.returncode == 0, again.stderr
    assert f"({document['standing'][0]['stack']}: " in again.stdout
    assert "over 4 " in again.stdout


@pytest.mark.exhaustive
def test_the_stack_that_a_race_advises_to_look_at_comes_up_as_it_stands(done, document, project):
    command = advised(done, "Look at the first: ")
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True) as up:
        line = up.stdout.readline()
        up.send_signal(signal.SIGINT)
        up.communicate(timeout=1800)
    assert line.startswith(f"{document['standing'][0]['stack']} answers at http://127.0.0.1:")


def test_one_stack_ran_twice_and_nobody_competes_with_it(document):
    twin = document["race"]["twin"]
    assert twin in STACKS
    launches = document["launches"]
    blocks = {name: [one["block"] for one in launches if one["stack"] == name] for name in (twin, f"{twin}#twin")}
    assert blocks[f"{twin}#twin"][:3] == blocks[twin][:3] != []
    rest = {name: part for name, part in document.items() if name not in ("launches", "race")}
    assert "#twin" not in json.dumps(rest)


def test_cpu_and_memory_are_told_by_hop(document):
    for row in document["standing"]:
        hop = row["stack"].split(":")[0]
        assert row["cpu_ms_per_request"][hop] > 0
        assert row["memory_bytes"][hop] > 1_000_000


def test_the_race_can_be_shown_again_in_every_format(document, stackrace, tmp_path):
    identifier = document["race"]["id"]
    assert json.loads(stackrace("report", identifier[:6], "--json").stdout) == document
    rows = list(csv.DictReader(io.StringIO(stackrace("report", identifier, "--csv").stdout)))
    assert {row["stack"] for row in rows} == {*STACKS, document["race"]["twin"] + "#twin"}
    assert "waitress" in stackrace("report", identifier, "--markdown").stdout
    page = tmp_path / "out" / "race.html"
    refused = stackrace("report", identifier, "--html", page)
    assert refused.returncode == 2 and str(page.parent) in refused.stderr and not page.parent.exists()
    page.parent.mkdir()
    assert stackrace("report", identifier, "--html", page).returncode == 0
    assert "waitress" in page.read_text()
    assert identifier in stackrace("report", "--list").stdout


def test_the_terminal_report_respects_pipes_and_no_color(document, stackrace):
    for environment in ({}, {"NO_COLOR": "1", "COLUMNS": "80"}):
        shown = stackrace("report", document["race"]["id"], **environment).stdout
        assert "\x1b[" not in shown
        assert "waitress" in shown


def test_everything_needed_to_repeat_the_race_is_kept(document):
    assert document["race"]["seed"] >= 0
    assert document["race"]["host"]["cores"] >= 1
    facts = {one["stack"]: one for one in document["stacks"]}
    assert facts["waitress"]["versions"]["waitress"]
    assert facts["gunicorn:workers=1"]["commands"]


def test_the_users_project_is_left_as_it_was(document, project):
    assert [path.name for path in project.iterdir()] == ["tiny.py"]


def wait_for_a_slice(process, path):
    """Watch the store, as another process may, until a slice is kept there."""
    while process.poll() is None:
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
                if store.execute("SELECT count(*) FROM stackrace_slice").fetchone()[0]:
                    return
        except sqlite3.OperationalError:
            pass  # it is not made yet, or being written to
        time.sleep(0.1)
    raise AssertionError(f"the race ended before a slice was kept: {process.stderr.read()}")


def test_a_race_that_is_told_to_end_leaves_nothing_but_its_results(project, stackrace, temporary, tmp_path):
    """As Ctrl-C and a kill do: see test_resume.py."""
    path = tmp_path / "races.sqlite3"
    process = subprocess.Popen(
        [*BRIEF, *ASKED, "--difference", "0.1%", "--store", f"sqlite:///{path}"],
        cwd=project,
        env=os.environ | {"TMPDIR": str(temporary), "BLOCKS": "1000"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for_a_slice(process, path)
    assert left_in(temporary)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=1800)
    assert process.returncode == 130
    wait_until_nothing_is_left(temporary)
    kept = json.loads(stackrace("report", "--json", "--store", f"sqlite:///{path}").stdout)
    assert kept["race"]["ending"] == "interrupted"
    assert any(launch["slices"] for launch in kept["launches"])


def lives(pid):
    """Tell whether a process runs; one that ended may wait for a parent who does not ask."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_kill_while_the_app_is_being_examined_leaves_no_process(tmp_path):
    # whatever else an app writes is gone with its view
    project, shared = tmp_path / "project", tmp_path / "cache" / "stackrace"
    project.mkdir()
    shared.mkdir(parents=True)
    marker = shared / "pid"
    code = f"import os, time\nprint(os.getpid(), end=' ', file=open({str(marker)!r}, 'w'), flush=True)\n"
    (project / "slow.py").write_text(f"{code}time.sleep(50)\n")
    process = subprocess.Popen(
        [str(STACKRACE), "run", "--wsgi", "slow:app", "--python", sys.executable, "--stack", "waitress"],
        cwd=project,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (marker.exists() and marker.read_text().endswith(" ")):
        time.sleep(0.05)
    examiner = marker.read_text().strip()
    process.kill()
    process.wait()
    deadline = time.monotonic() + 1800
    while lives(examiner) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not lives(examiner)


@pytest.mark.exhaustive
def test_a_silent_connection_takes_the_only_worker_and_not_a_thread(brief, project):
    sync, threaded = "gunicorn:workers=1", "gunicorn:workers=1,class=gthread,threads=4"
    words = ["run", "--wsgi", "tiny:app", "--python", sys.executable, "--budget", "60min", "-c", "4", "--no-twin"]
    document = raced(brief(*words, "--silent", "1", "--stack", sync, "--stack", threaded, "--json", cwd=project))
    for launch in document["launches"]:
        for one in launch["slices"]:
            assert one["load"]["silent"] == one["held"]["silent"] == 1
            found = {finding["id"] for finding in one["findings"]}
            assert ("nothing-right" in found) == (launch["stack"] == sync)
    (out,) = [one["failure"] for one in document["withdrawals"] if one["stack"] == sync]
    assert "beside silent connections (1)" in json.dumps(out)


def test_a_program_follows_a_race_line_by_line(project):
    done = calling(*BRIEF)(*ASKED, "--json-lines", cwd=project)
    assert done.returncode in (0, 3), done.stderr
    first, *lines, last = map(json.loads, done.stdout.splitlines())
    assert (first["event"], first["stacks"]) == ("race", STACKS)
    assert {line["event"] for line in lines} >= {"activity", "block", "launch", "slice", "standing", "race ended"}
    assert {line["stack"] for line in lines if line["event"] == "launch"} <= set(STACKS)
    assert last["event"] == "result"
    assert last["document"]["race"]["id"] == first["id"]
