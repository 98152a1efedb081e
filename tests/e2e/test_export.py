"""A stack exported on the command line, its files started as they are, and what is wrong with them said."""

from __future__ import annotations

import json
import os
import sys

import jsonschema
import pytest
from tests.ports import free_port

from stackrace.features.export.export_files import schema

APP = """\
import os


def application(environ, start_response):
    body = os.environ["GREETING"].encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
"""


@pytest.fixture
def project(stackrace, tmp_path):
    """A project whose app wants a variable, and a function that exports it."""
    (tmp_path / "hello.py").write_text(APP)
    (tmp_path / "settings.env").write_text("GREETING=a-secret-greeting\n")

    def export(*arguments):
        return stackrace(
            "export", *arguments, "--wsgi", "hello:application", "--python", sys.executable,
            "--env-file", "settings.env", "--store", "sqlite:///races.sqlite3", cwd=tmp_path,
        )  # fmt: skip

    export.folder = tmp_path
    return export


def test_exported_files_start_as_they_are_and_are_written_with_their_proof(project):
    done = project(
        "gunicorn", "--to", "deploy", "--prove", "--start-only", "--listen", f"127.0.0.1:{free_port()}", "--json"
    )
    if "tmpfs" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("no private view of the file system can be had here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads(schema()))
    assert document["proof"]["questions"] == 1
    assert document["proof"]["container_healthy"] is True
    (reload,) = document["proof"]["reloads"]
    assert reload["hop"] == "gunicorn"
    assert reload["asked"] > reload["lost"]
    deploy = project.folder / "deploy"
    assert sorted(document["files"]) == sorted(
        str(path.relative_to(deploy)) for path in deploy.rglob("*") if path.is_file()
    )
    assert not [path for path in deploy.rglob("*") if path.is_file() and "a-secret-greeting" in path.read_text()]
    assert "They answered 1 question rightly" in (deploy / "EVIDENCE.md").read_text()
    assert not os.path.lexists("/srv/" + document["name"])


def test_a_wrong_stack_writes_nothing(project):
    asgi = project("uvicorn", "--to", "deploy")
    assert asgi.returncode == 2
    assert not (project.folder / "deploy").exists()
