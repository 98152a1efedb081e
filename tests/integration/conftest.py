"""What several integration tests need: a guard, and an interpreter that has what apps need."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stackrace.deploy import launcher
from stackrace.deploy.guard import Guard


@pytest.fixture
def guard():
    """A supervisor of one test's own processes; nothing of it is left behind."""
    with Guard() as running:
        yield running
    assert not running.directory.exists()


def _uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        pytest.skip("uv is not installed")
    return found


@pytest.fixture(scope="session")
def django_python(tmp_path_factory):
    """Return the interpreter of a fresh environment that holds Django and Flask, and nothing of ours."""
    home = tmp_path_factory.mktemp("environment") / "django"
    uv = _uv()
    for arguments in (
        ["venv", "--quiet", "--no-project", "--python", sys.executable, str(home)],
        ["pip", "install", "--quiet", "--python", str(home), "django>=5.2,<6", "flask>=3,<4"],
    ):
        done = subprocess.run([uv, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"uv cannot build an environment with Django: {done.stderr.strip()}")
    return home / "bin" / "python"


@pytest.fixture
def soon_blamed(monkeypatch):
    """A stack that is up and answers wrongly is not asked for long whether it changes its mind."""
    monkeypatch.setattr(launcher, "_CHANGE_OF_MIND_S", 0.5)
