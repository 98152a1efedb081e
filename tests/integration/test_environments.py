"""Environments are built by the real uv."""

import sys
from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments


@pytest.mark.exhaustive
def test_what_uv_builds_leaves_no_temporary_file(tmp_path, monkeypatch):
    temporary, package = tmp_path / "temporary", tmp_path / "package"
    temporary.mkdir()
    package.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    (package / "setup.py").write_text("from setuptools import setup\nsetup(name='tiny', py_modules=['tiny'])\n")
    (package / "tiny.py").touch()
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"tiny @ {package.as_uri()}\n")
    environments = Environments(tmp_path / "cache", lambda preparing: None)
    python = environments.of_requirements(requirements, Path(sys.executable), UNPROTECTED)
    assert list(python.parents[1].glob("lib/python3*/site-packages/tiny.py"))
    assert not list(temporary.iterdir())
    assert not (python.parents[1] / "tmp").exists()


def test_settings_say_where_packages_come_from_only_in_the_project_that_is_run(tmp_path, monkeypatch):
    (tmp_path / "uv.toml").write_text("offline = true\nno-index = true\nno-cache = true\n")
    monkeypatch.chdir(tmp_path)
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("itsdangerous==2.2.0\n")
    base = Path(sys.executable)
    with pytest.raises(InputError, match="cannot be installed"):
        Environments(tmp_path / "one", str, tmp_path).of_requirements(requirements, base, UNPROTECTED)
    assert Environments(tmp_path / "other", str).of_requirements(requirements, base, UNPROTECTED).exists()
