"""The app's interpreter may be Python 3.8: what it reads has neither newer syntax nor newer expressions."""

import ast
from pathlib import Path

import pytest

from stackrace.app import counting, examiner
from stackrace.stacks.servers import bodiless
from stackrace.stacks.servers.gunicorn import inspector
from stackrace.stacks.servers.mod_python import server as mod_python
from stackrace.stacks.servers.uwsgi import options as uwsgi

BESIDE = (
    counting.__file__,
    bodiless.__file__,
    inspector.__file__,
    Path(mod_python.__file__).with_name("handler.py"),
    Path(uwsgi.__file__).with_name("inspector.py"),
)
FILES = sorted((*Path(examiner.__file__).parent.glob("*.py"), *map(Path, BESIDE)))
GENERIC_SINCE_3_9 = {
    "Callable",
    "Iterable",
    "Iterator",
    "Mapping",
    "Sequence",
    "dict",
    "list",
    "set",
    "tuple",
    "type",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_type_is_subscripted_where_that_is_run(path):
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    skipped = {id(part) for node in ast.walk(tree) for note in _not_run(node) for part in ast.walk(note)}
    run = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and id(node) not in skipped
        if isinstance(node.value, ast.Name) and node.value.id in GENERIC_SINCE_3_9
    ]
    assert not run


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_annotations_are_not_run(path):
    tree = ast.parse(path.read_text())
    has_some = any(True for node in ast.walk(tree) for _ in _not_run(node))
    assert not has_some or "from __future__ import annotations" in path.read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_called_that_came_later(path):
    assert not [
        ast.unparse(call)
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        if (ast.unparse(call.func) == "zip" and call.keywords)
        or getattr(call.func, "attr", "") in ("removeprefix", "removesuffix", "to_thread")
    ]


def _not_run(node):
    """Return the annotations of a node, and all of it where only type checkers read it."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return [node]
    return filter(None, (getattr(node, name, None) for name in ("annotation", "returns")))
