"""The example of a server of one's own: installed as a package, or out of a local folder, and raced for real."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.conftest import STACKRACE
from tests.raced import raced, slices_of, told

from stackrace.stacks.servers import catalogue

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "outside_server"
GUIDE = ROOT / "docs" / "adding-a-server.md"
SHORT = ("--repeats", "1", "--requests", "100", "-c", "4", "--no-twin")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the example's package was built and installed into, to be put on the import path."""
    folder = tmp_path_factory.mktemp("outside")
    shutil.copytree(EXAMPLE, folder / "source")  # building leaves files beside the sources
    uv = Path(sys.executable).with_name("uv")
    command = [uv, "pip", "install", "--quiet", "--no-deps", "--target", folder / "packages", folder / "source"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(folder / "packages")


@pytest.fixture
def project(tmp_path):
    """A copy of the example, to be used as a folder of servers."""
    return shutil.copytree(EXAMPLE, tmp_path / "project")


def servers(done):
    assert done.returncode == 0, done.stderr
    return {server["name"]: server for server in json.loads(done.stdout)}


def counts(done):
    """What became of the requests of every run."""
    return [one["counts"] for one in slices_of(raced(done))]


def test_an_installed_package_is_in_the_catalogue(stackrace, installed):
    listed = servers(stackrace("stacks", "--json", PYTHONPATH=installed))
    assert listed["wsgiref"]["ready"]
    assert listed["wsgiref"]["settings"][0]["name"] == "threads"
    assert "wsgiref" not in catalogue().specs


@pytest.mark.exhaustive
def test_an_installed_package_is_launched_and_loaded(stackrace, installed, tmp_path):
    """A race launches it the same way: see the local folder."""
    few = ("-c", "4", "-n", "100", "--no-ceiling", "--json")
    done = stackrace("load", "--bundled", "--stack", "wsgiref:threads=2", *few, cwd=tmp_path, PYTHONPATH=installed)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["ok"], document["scheduled"]) == (100, 100)


def test_a_local_folder_races_as_its_race_file_says(brief, project, tmp_path):
    stacks = ["--stack", "wsgiref", "--stack", "cheroot"]
    done = brief("run", project / "race.toml", *stacks, *SHORT, "--json", cwd=tmp_path)
    assert told(raced(done)) == {"wsgiref", "cheroot"}, raced(done)["withdrawals"]
    assert [(one["ok"], one["scheduled"]) for one in counts(done)] == [(100, 100)] * 2


def test_the_stacks_of_a_race_file_may_name_its_own_servers(stackrace, project):
    race_file = project / "race.toml"
    race_file.write_text(race_file.read_text().replace("nginx/http/wsgiref", "nginx/http/wsgiref:threads=0"))
    done = stackrace("run", "race.toml", cwd=project)
    assert done.returncode == 2
    assert "race.toml has 1 problem:" in done.stderr and "threads" in done.stderr


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed: stackrace install nginx")
def test_a_local_server_comes_up_behind_a_front_end(project):
    command = [STACKRACE, "up", "nginx/http/wsgiref", "--servers", project]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            line = running.stdout.readline()
            url = re.search(r"answers at (http://\S+)", line)
            assert url, line + running.stderr.read()
            with urllib.request.urlopen(f"{url[1]}hello/", timeout=1800) as answer:
                assert answer.read() == b"Hello, world!"
        finally:
            running.send_signal(signal.SIGTERM)
            running.communicate(timeout=1800)
    assert running.returncode == 0


@pytest.mark.parametrize("verb", [("stacks",), ("run", "--stack", "gunicorn")], ids=lambda v: v[0])
def test_a_broken_server_is_explained_and_nothing_is_started(stackrace, project, verb):
    file = project / "stackrace_wsgiref" / "server.py"
    file.write_text(file.read_text() + "\n1 / 0\n")
    line = len(file.read_text().splitlines())
    done = stackrace(*verb, "--servers", project)
    assert done.returncode == 2
    assert f"{file}, line {line}: ZeroDivisionError: division by zero; correct it" in done.stderr
    assert "    1 / 0\n" in done.stderr, "their own traceback"
    assert "stackrace/stacks/servers/outside.py" not in done.stderr
    assert "preparing" not in done.stderr


def test_the_code_in_the_guide_is_the_examples():
    shown = re.findall(r"^`(examples/\S+?)`:\n\n```\w*\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert {Path(name).name for name, _ in shown} >= {"server.py", "wsgiref.ini.j2", "pyproject.toml", "race.toml"}
    for name, text in shown:
        assert text == (ROOT / name).read_text(), name


def test_the_files_that_the_guide_names_are_there():
    for target in re.findall(r"\]\((\.\./[^)#]+)\)", GUIDE.read_text()):
        assert (GUIDE.parent / target).exists(), target
