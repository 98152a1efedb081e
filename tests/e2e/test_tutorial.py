"""The commands of docs/tutorial.md and docs/how-to run as they stand, and the pages have what they print.

``STACKRACE_UPDATE_GOLDEN=1 pytest tests/e2e/test_tutorial.py`` races in full, and writes the outputs: let
nothing else run on the machine. ``-k PAGE`` writes those of one page.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conftest import STACKRACE

ROOT = Path(__file__).parents[2]
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
FILE = re.compile(r"`([\w.]+)`[,:]\n\n```\w+\n(.*?)```", re.DOTALL)
STEP = re.compile(r"^```console\n\$ stackrace ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IS_UPDATE = bool(os.environ.get("STACKRACE_UPDATE_GOLDEN"))
NOTE = "(From a short race on a busy machine, to show the form.)\n\n"
"""Stands before an output that was not written by a race in full."""
TELLING = {
    "run": "Standing at c=20",
    "check": "Base: ",
    "tune": "configurations",
    "export": "How to deploy it: README.md",
}
"""Part of the output of a command whose other words depend on the machine."""


def shape(output):
    """The lines of ``output`` without figures and versions, and without the blanks of columns."""
    return [" ".join(re.sub(r"[\d.,]*\d[\w.]*", "N", line).split()) for line in output.splitlines()]


def in_full(*arguments, cwd, **variables):
    """Run the command in a session of its own, which a race with priority raises."""
    command = [str(STACKRACE), *arguments]
    environment = os.environ | variables
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=1800, start_new_session=True
    )


@pytest.fixture
def shown(brief):
    """Return a function that runs the commands of a page in a folder and holds their outputs against the page."""

    def hold(page, folder):
        text = page.read_text(encoding="utf-8")
        for words, before in STEP.findall(text):
            arguments = shlex.split(words)
            done = (in_full if IS_UPDATE else brief)(*arguments, cwd=folder, COLUMNS="100", NO_COLOR="1")
            # a check says no, or has seen too little of a brief race
            assert done.returncode in ((0, 1, 3) if arguments[0] == "check" else (0,)), done.stdout + done.stderr
            printed = done.stdout.replace(str(folder), "~/notes").replace(
                os.environ["XDG_DATA_HOME"], "~/.local/share"
            )
            if IS_UPDATE:
                text = text.replace(
                    f"$ stackrace {words}\n{before}```", f"$ stackrace {words}\n{printed.rstrip()}\n```"
                )
            elif telling := TELLING.get(arguments[0]):
                assert telling in printed
                assert telling in before
            else:
                assert shape(printed.rstrip()) == shape(before.rstrip())
        if IS_UPDATE:
            page.write_text(text.replace(NOTE, ""), encoding="utf-8")

    return hold


@pytest.mark.exhaustive
def test_the_tutorial_does_what_it_shows(shown, tmp_path):
    page, folder = ROOT / "docs" / "tutorial.md", tmp_path / "notes"
    folder.mkdir()
    for name, text in FILE.findall(page.read_text(encoding="utf-8")):
        (folder / name).write_text(text)
    shown(page, folder)
    assert (folder / "deploy" / "EVIDENCE.md").is_file()


def repository(folder):
    """Make a repository of the notes, whose last commit lets its first page sleep for two milliseconds."""
    identity = ("-c", "user.name=Stackrace", "-c", "user.email=stackrace@localhost")
    for name in ("notes.py", "requirements.txt"):
        shutil.copy(ROOT / "examples" / "flask_notes" / name, folder)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", ".")
    git(folder, *identity, "commit", "--quiet", "--message", "Notes")
    git(folder, "checkout", "--quiet", "-b", "sleepy")
    notes = folder / "notes.py"
    code = notes.read_text().replace("    return jsonify([", "    time.sleep(0.002)\n    return jsonify([")
    notes.write_text(code.replace("\n\nfrom flask", "\n\nimport time\n\nfrom flask"))
    git(folder, *identity, "commit", "--quiet", "--all", "--message", "Sleep")


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_how_to_page_ends_in_a_command_and_what_it_prints(page, shown, tmp_path):
    if page.stem == "guard-a-pull-request":
        repository(tmp_path)
    shown(page, tmp_path)


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_how_to_page_is_short_but_for_its_output(page):
    text = page.read_text(encoding="utf-8")
    assert len(STEP.findall(text)) == 1
    assert text.endswith("```\n")
    assert len(STEP.sub("", text).splitlines()) <= 40
