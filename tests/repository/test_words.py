"""Words that were given up, since nobody else in the field uses them so, come back into no name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "stackrace"
GONE = {
    "weather": "speed_effect: what the machine's changes of speed did",
    "company": "other_load, other_threads",
    "crew": "next_stacks",
    "entrants": "first_stacks",
    "told": "what was said by whom: expected, declared, given",
    "tell": "print, emit, signal, show",
    "beside": "service_variables, extra, with_",
    "apart": "difference, distances, spread, without",
    "lack": "MissingItem, Omission",
    "lacks": "missing, omissions",
    "nottaken": "Omission",
}
"""Each with what is meant."""
KEPT = {"lacks_tables", "lacks_static_files"}
"""Names in which one is a verb or means what it says."""


def names() -> Iterator[tuple[Path, str]]:
    """Yield the names of files, functions, classes, parameters and fields."""
    for path in SOURCE.rglob("*.py"):
        if {"migrations", "bundled"} & set(path.parts):
            continue
        yield path, path.stem
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield path, node.name
            elif isinstance(node, ast.arg):
                yield path, node.arg
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield path, node.target.id


def words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)]


def test_no_name_has_a_word_that_went() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {name} ({word}: {GONE[word]})"
        for path, name in names()
        if name not in KEPT
        for word in words(name)
        if word in GONE
    ]
    assert found == []
