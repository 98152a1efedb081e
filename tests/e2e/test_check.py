"""Checks as a user types them. What a machine measures is up to it: no test asks which outcome."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.conftest import BRIEF, STACKRACE
from tests.raced import ended_launches, wait_until_nothing_is_left

from stackrace.race.results.comparison import Outcome
from stackrace.store import open_store
from stackrace.store.race_lock import is_racing

APP = '''"""A page."""


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "6")])
    return [b"page {version}"]
'''

TOLD = ("--wsgi", "page:application", "--python", sys.executable, "--allow", "start any", "--budget", "5min")
LEFT_OUT = ("--allow", "throughput any", "--allow", "cpu any", "--allow", "p99 any", "--allow", "memory any",
            "--allow", "errors any")  # fmt: skip
CODES = {"passed": 0, "failed": 1, "undecided": 3, "refused": 3}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A repository of an app with two commits, whose answers differ."""
    folder = tmp_path_factory.mktemp("repository") / "shop"
    folder.mkdir()

    def git(*words):
        told = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *words]
        subprocess.run(told, cwd=folder, check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch", "main")
    for text in ("import nothing_like_it\n", APP.format(version=1), APP.format(version=2)):
        (folder / "page.py").write_text(text)
        git("add", "--all")
        git("commit", "--quiet", "--message", "some")
    return folder


def worktrees(shop):
    listed = subprocess.run(["git", "worktree", "list"], cwd=shop, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def test_a_check_writes_every_format_and_is_stored(brief, stackrace, shop, tmp_path):
    files = {name: tmp_path / f"check.{name}" for name in ("junit", "markdown", "openmetrics", "html")}
    flags = [word for name, path in files.items() for word in (f"--{name}", path)]
    store = f"sqlite:///{tmp_path / 'races.sqlite3'}"
    done = brief("check", *TOLD, "--base", "HEAD~1", "--json", "--store", store, *flags, cwd=shop, BLOCKS="1")
    document = json.loads(done.stdout)
    assert done.returncode == CODES[document["outcome"]] == document["exit_code"], done.stderr
    assert (document["base"]["label"], document["head"]["label"]) == ("HEAD~1", "the work tree")
    assert document["base"]["revision"] != document["head"]["revision"]
    assert all(path.stat().st_size for path in files.values())
    assert len(worktrees(shop)) == 1
    again = stackrace("report", document["race"]["id"], "--json", "--store", store, cwd=tmp_path)
    assert json.loads(again.stdout) == document
    with open_store(store) as kept:
        race = kept.load(document["race"]["id"])
    assert {launch.stack for launch in race.launches} == {"gunicorn#base", "gunicorn#head"}
    assert all(launch.failure is None for launch in race.launches), "each side has right answers of its own"


@pytest.mark.exhaustive
def test_two_variants_of_one_tree_need_no_repository(brief, shop, tmp_path):
    (tmp_path / "page.py").write_text(APP.format(version=1))
    done = brief("check", *TOLD, "--head-env", "FAST=1", cwd=tmp_path, BLOCKS="1")
    assert done.returncode in CODES.values(), done.stderr
    assert done.stdout.startswith(tuple(outcome.capitalize() for outcome in Outcome))
    assert "Head: its own FAST, gunicorn " in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--base", "nowhere"), "--base nowhere"),
        (("--base", "HEAD"), "nothing to compare"),
        (("--allow", "speed 3%"), "throughput, cpu, p99"),
        (("--stack", "gunicorn", "--stack", "waitress"), "one stack"),
        (("--junit", "/nowhere/check.xml"), "/nowhere"),
        (LEFT_OUT, "nothing to check"),
    ],
)  # fmt: skip
def test_bad_input_is_said_in_a_sentence(stackrace, shop, words, said):
    done = stackrace("check", *TOLD, *words, cwd=shop)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(worktrees(shop)) == 1


@pytest.mark.exhaustive
def test_a_base_that_does_not_load_shows_its_own_log(stackrace, shop):
    done = stackrace("check", *TOLD, "--base", "HEAD~2", cwd=shop)
    assert done.returncode == 2
    assert "nothing_like_it" in done.stderr
    assert "the base (HEAD~2, " in done.stderr
    assert len(worktrees(shop)) == 1


def test_an_interrupted_check_leaves_no_work_tree(shop, temporary):
    process = subprocess.Popen(
        [STACKRACE, "check", *TOLD, "--base", "HEAD~1"], cwd=shop, env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 1800
    while not list(Path(temporary).glob("stackrace-*/tree/page.py")):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=1800)
    assert process.returncode == 130
    assert len(worktrees(shop)) == 1
    assert not list(Path(temporary).iterdir())


def test_a_check_runs_until_it_is_killed(shop, stackrace, temporary, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    store = f"sqlite:///{tmp_path / 'races.sqlite3'}"
    with open_store(store):
        pass
    process = subprocess.Popen(
        [*BRIEF, "check", *TOLD, "--base", "HEAD~1", "--store", store], cwd=shop,
        env={**os.environ, "TMPDIR": str(temporary), "BLOCKS": "1000"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not (found := ended_launches(store)):
        assert process.poll() is None
        time.sleep(0.05)
    (race_id,) = found
    report = ("report", race_id, "--store", store)
    assert is_racing(race_id)
    assert "It is going on at this moment." in stackrace(*report).stderr
    process.kill()
    process.wait()
    wait_until_nothing_is_left(temporary)
    assert not is_racing(race_id)
    assert "It was interrupted, and cannot be continued." in stackrace(*report).stderr
    resumed = stackrace("run", "--resume", "--store", store)
    assert resumed.returncode == 2 and "no race was interrupted here" in resumed.stderr
