"""docs/tutorial.md: its commands run as they stand, one after the other, and the page has what they print.

``STACKRACE_UPDATE_GOLDEN=1 pytest tests/e2e/test_tutorial.py`` races without a shortening and writes the outputs.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
FILE = re.compile(r"`([\w.]+)`[,:]\n\n```\w+\n(.*?)```", re.DOTALL)
STEP = re.compile(r"^```console\n\$ stackrace ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MEASURED = "run"
"""The command whose output depends on the machine."""


def shape(output: str) -> list[str]:
    """The lines of ``output`` without figures and versions, and without the blanks of columns."""
    return [" ".join(re.sub(r"[\d.,]*\d[\w.]*", "N", line).split()) for line in output.splitlines()]


@pytest.mark.exhaustive
def test_every_command_does_what_the_page_shows(stackrace, brief, tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    is_update = bool(os.environ.get("STACKRACE_UPDATE_GOLDEN"))
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in FILE.findall(page):
        (folder / name).write_text(text)
    printed = {}
    for words, shown in STEP.findall(page):
        verb, *_ = arguments = shlex.split(words)
        run = stackrace if is_update else brief
        done = run(*arguments, cwd=folder, HOME=str(tmp_path), COLUMNS="110")
        assert done.returncode == 0, done.stderr
        printed[words] = done.stdout.replace(str(folder), "~/notes").rstrip() + "\n"
        if not is_update and verb != MEASURED:
            assert shape(printed[words]) == shape(shown), words
    assert (folder / "deploy" / "EVIDENCE.md").is_file()
    if is_update:
        PAGE.write_text(
            STEP.sub(lambda step: f"```console\n$ stackrace {step[1]}\n{printed[step[1]]}```", page),
            encoding="utf-8",
        )
