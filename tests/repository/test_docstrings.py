"""Docstrings begin with what they are about: a verb, or a noun of the field."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "stackrace"
RIDDLE = re.compile(r'^\s*"""(Of|Those|So|As|That|Who|Whom|Whose|Its|Whether)\b.*', re.MULTILINE)
"""First words that are understood only by somebody who has read the code below."""


def test_no_docstring_begins_with_a_riddle():
    files = {path: path.read_text() for path in SOURCE.rglob("*.py") if "migrations" not in path.parts}
    riddles = [
        f"{path.relative_to(SOURCE)}: {found[0].strip()}"
        for path, text in files.items()
        for found in RIDDLE.finditer(text)
    ]
    assert riddles == []
