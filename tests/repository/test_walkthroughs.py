"""The first patches of CONTRIBUTING.md, pasted into a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATCHES = dict(re.findall(r"^### (.*?)\n.*?```sh\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))
LEFT_OUT = (".*_cache", ".git", ".hypothesis", ".venv", "__pycache__", "build", "dist", "target")


@pytest.fixture
def checkout(tmp_path):
    """A committed copy of this checkout with the same environment, whose Stackrace is the copy's."""
    folder = tmp_path / "stackrace"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    (folder / ".venv").symlink_to(sys.prefix)
    name = ("-c", "user.name=Stackrace", "-c", "user.email=stackrace@localhost")
    for command in (("init", "--quiet"), ("add", "."), (*name, "commit", "--quiet", "--message", "Before")):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def pasted(text, folder):
    """Paste ``text`` into a shell in ``folder``; return its output. Each command must succeed."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "GIT_PAGER": "cat", "PYTEST_ADDOPTS": "-rf"}
    done = subprocess.run(
        ["bash", "-e", "-u", "-o", "pipefail", "-x", "-c", text],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_page_has_the_three_patches():
    assert list(PATCHES) == ["A new server", "A new check", "A wrong number in the report"]


@pytest.mark.exhaustive
def test_a_new_server_is_in_the_catalogue_on_its_page_and_starts(checkout):
    output = pasted(PATCHES["A new server"], checkout)
    assert "Pooled" in output
    assert "| `pooled`" in (checkout / "docs/stacks.md").read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_a_new_check_is_on_its_page_and_all_tests_of_checks_pass(checkout):
    assert "\n+" in pasted(PATCHES["A new check"], checkout)
    assert "long tail" in (checkout / "docs/checks.md").read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_a_wrong_number_is_found_by_its_examples_the_frozen_outputs_and_the_laws(checkout):
    output = pasted(PATCHES["A wrong number in the report"], checkout)
    assert "FAILED tests/repository/test_numbers.py" in output
    assert re.search(r"tests/frozen/golden/\S+end\.txt", output)
    assert "FAILED tests/sentences" in output
