"""Environments are built by the real uv."""

import sys
from pathlib import Path

from stackrace.deploy.environments import Environments


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
    python = environments.of_requirements(requirements, Path(sys.executable))
    assert list(python.parents[1].glob("lib/python3*/site-packages/tiny.py"))
    assert not list(temporary.iterdir())
    assert not (python.parents[1] / "tmp").exists()
