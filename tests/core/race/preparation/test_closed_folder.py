"""A folder of somebody else's in the project, such as a database server's data in a volume, is passed over."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.unprotected import data_paths

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.known_pythons import known_pythons
from stackrace.app.projects.detection import detect
from stackrace.app.revision import source_digest
from stackrace.deploy.project_data import databases_below, linked_data


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a folder that nobody may look into; Path's methods hear that also as root."""
    folder = tmp_path / "site"
    closed = folder / "pgdata"
    closed.mkdir(parents=True)
    (folder / "shop.py").write_text("from flask import Flask\napp = Flask(__name__)\n")
    (folder / "closed").symlink_to(closed / "inner")
    (folder / "their.env" / "bin").mkdir(parents=True)
    (folder / "their.env" / "pyvenv.cfg").touch()
    (folder / "their.env" / "bin" / "python").symlink_to(sys.executable)
    stat = Path.stat

    def refuse(path, **options):
        if closed in path.parents:
            raise PermissionError(13, os.strerror(13), str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", refuse)
    closed.chmod(0)
    yield folder
    closed.chmod(0o700)


def app_in(folder, **variables):
    return App(
        name="site",
        root=folder,
        entry=entry_of(EntryKind.WSGI, "shop:app"),
        python=Path(sys.executable),
        environment=variables,
    )


def test_the_app_and_its_environment_beside_it_are_found(project):
    assert detect(project).entry == entry_of(EntryKind.WSGI, "shop:app")
    assert project / "their.env/bin/python" in [known.python for known in known_pythons(project, {})]


def test_its_data_are_looked_for_beside_it(project):
    assert not [*databases_below(project)]
    assert not linked_data([project])
    assert source_digest(app_in(project))
    url = f"sqlite:///{project}/pgdata/inner/data.db"
    assert data_paths(app_in(project, DATABASE_URL=url)).present_files == ()


def test_an_interpreter_that_nobody_may_look_at_is_none(project):
    (project / "venv" / "bin").mkdir(parents=True)
    (project / "venv" / "bin" / "python").symlink_to(project / "pgdata" / "bin" / "python3")
    assert project / "venv/bin/python" not in [known.python for known in known_pythons(project, {})]
