"""A project whose requirements pin its server races what it pins."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from uv import find_uv_bin

from stackrace.app.app import EntryKind, entry_of
from stackrace.base.errors import MissingError
from stackrace.deploy.running_stack import facts_of
from stackrace.deploy.shutdown import stop
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import catalogue

APPS = """
def wsgi(environ, start_response):
    start_response("200 OK", [])
    return [b"hello"]


async def asgi(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})
"""


@pytest.fixture
def python(tmp_path):
    """Return what makes an environment with some packages, and returns its interpreter."""

    def make(*packages):
        home = tmp_path / "venv"
        for arguments in (
            ["venv", "--quiet", "--no-project", "--python", sys.executable, str(home)],
            ["pip", "install", "--quiet", "--python", str(home), *packages],
        ):
            subprocess.run([find_uv_bin(), *arguments], check=True, cwd=tmp_path)
        return home / "bin" / "python"

    return make


@pytest.mark.parametrize(
    ("server", "pinned", "settings"),
    [
        pytest.param("gunicorn", "21.2.0", ":class=gthread,threads=2", marks=pytest.mark.exhaustive),
        # older than what is asked for where the app brings none
        ("uvicorn", "0.18.3", ""),
        pytest.param("daphne", "3.0.2", "", marks=pytest.mark.exhaustive),
        pytest.param("waitress", "1.4.4", "", marks=pytest.mark.exhaustive),
        pytest.param("cheroot", "9.0.0", "", marks=pytest.mark.exhaustive),
    ],
)
def test_the_server_that_an_app_brings_serves_it(tmp_path, python, server, pinned, settings):
    kind = EntryKind.ASGI if server in ("uvicorn", "daphne") else EntryKind.WSGI
    project = tmp_path / "project"
    project.mkdir()
    (project / "small.py").write_text(APPS)
    request = RaceRequest(
        folder=project,
        entry=entry_of(kind, f"small:{kind}"),
        python=python(f"{server}=={pinned}", "setuptools<80"),
        stacks=(f"{server}{settings}",),
        environment={"PATH": os.environ["PATH"]},
    )
    with set_up(request) as made:
        running = made.launcher.launch(made.stacks[0], timeout_s=120)
        assert facts_of(running, catalogue()).versions[server] == pinned
        assert stop(made.guard, [running]) == {}


@pytest.mark.exhaustive
def test_versions_of_one_server_race_beside_the_one_that_the_app_brings(tmp_path, python):
    (tmp_path / "small.py").write_text(APPS)
    request = RaceRequest(
        folder=tmp_path,
        entry=entry_of(EntryKind.WSGI, "small:wsgi"),
        python=python("gunicorn==25.0.3", "asgiref==3.4.0"),
        stacks=("gunicorn", "gunicorn@23.0.0", "nginx/uwsgi/uwsgi@2.0.30"),
        environment={"PATH": os.environ["PATH"]},
    )
    with set_up(request) as made:
        for stack, version in zip(made.stacks, ("25.0.3", "23.0.0", "2.0.30"), strict=True):
            running = made.launcher.launch(stack, timeout_s=1800)
            assert facts_of(running, catalogue()).versions[stack.hops[-1].server] == version
            assert stop(made.guard, [running]) == {}
    both = entry_of(EntryKind.ASGI, "small:asgi")
    for path, why in (
        ("gunicorn@99", "has no version that fits"),
        ("gunicorn@23.0.0:class=asgi", "two versions of one package"),
        ("daphne@4.1.2", "loosen the app's pins"),
    ):
        asked = replace(request, entry=both if path != "gunicorn@99" else request.entry, stacks=(path,))
        with pytest.raises(MissingError, match=f"stack '{path}': .*{why}") as raised, set_up(asked):
            pass
        assert path.partition(":")[0].replace("@", "==") in " ".join(raised.value.detail.split())
