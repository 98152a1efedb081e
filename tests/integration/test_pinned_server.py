"""A project whose requirements pin its server races what it pins."""

import os
import subprocess
import sys

import pytest
from uv import find_uv_bin

from stackrace.apps import entry_of
from stackrace.deploy.facts import facts_of
from stackrace.deploy.stopping import stop
from stackrace.model.app import EntryKind
from stackrace.servers import catalogue
from stackrace.setup.deployment import set_up
from stackrace.spec.request import RaceRequest

APP = "def app(environ, start_response):\n    start_response('200 OK', [])\n    return [b'hello']\n"
PINNED = "21.2.0"


@pytest.fixture
def python(tmp_path):
    """Return the interpreter of an environment with an old gunicorn."""
    home = tmp_path / "venv"
    for arguments in (
        ["venv", "--quiet", "--no-project", "--python", sys.executable, str(home)],
        ["pip", "install", "--quiet", "--python", str(home), f"gunicorn=={PINNED}"],
    ):
        subprocess.run([find_uv_bin(), *arguments], check=True, cwd=tmp_path)
    return home / "bin" / "python"


@pytest.mark.parametrize("settings", ["", ":class=gthread,threads=2"])
def test_the_pinned_gunicorn_serves(tmp_path, python, settings):
    project = tmp_path / "project"
    project.mkdir()
    (project / "small.py").write_text(APP)
    request = RaceRequest(
        folder=project,
        entry=entry_of(EntryKind.WSGI, "small:app"),
        python=python,
        stacks=(f"gunicorn{settings}",),
        environment={"PATH": os.environ["PATH"]},
    )
    with set_up(request) as made:
        running = made.launcher.launch(made.stacks[0], timeout_s=60)
        assert facts_of(running, catalogue()).versions["gunicorn"] == PINNED
        assert stop(made.guard, [running]) == {}
