"""The Python files of a project."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ...base.files import read_bytes
from ..project_files import MARK

_MOST_FILES = 4000
_MOST_DEPTH = 6
_MOST_BYTES = 2**20
"""Longest file that is read: nobody writes a longer one by hand."""

_NOT_CODE = frozenset({"__pycache__", "__pypackages__", "build", "dist", "node_modules", "site-packages", "target"})

_ASIDE_FOLDER = re.compile(
    r"alembic|bench|benchmarks?|demos?|docs?|e2e(-tests)?|examples?|fixtures|migrations|playground|samples?|sandbox"
    r"|scripts|stuff|test(s|ing)?|tools|tutorials?"
)
_ASIDE_FILE = re.compile(r"(test_.*|.*_tests?|tests?|conftest|setup|noxfile|tasks|manage|gunicorn[._]conf.*)\.py$")

_ENVIRONMENT_SIGNS = ("pyvenv.cfg", "conda-meta")


def python_files(folder: Path) -> Iterator[Path]:
    """Yield the Python files in ``folder``, upper levels first, without environments and hidden folders."""
    yield from islice(_walk(folder, _MOST_DEPTH), _MOST_FILES)


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    level = [folder]
    for _ in range(depth):
        inner: list[Path] = []
        for place in level:
            files, folders = _listed(place)
            yield from files
            inner += folders
        level = inner


def _listed(folder: Path) -> tuple[list[Path], list[Path]]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return [], []
    names = {entry.name for entry in entries}
    files = [Path(entry.path) for entry in entries if entry.name.endswith(".py") and entry.is_file()]
    folders = [
        Path(entry.path)
        for entry in entries
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".") and entry.name not in _NOT_CODE
    ]
    return ([], []) if names & {*_ENVIRONMENT_SIGNS, MARK} else (files, folders)


def is_aside(path: Path, folder: Path) -> bool:
    """Tell whether a file of the project ``folder`` is a test, an example or a tool rather than the app itself."""
    *folders, name = path.relative_to(folder).parts
    if folders[:1] == ["contrib"] or any(map(_ASIDE_FOLDER.fullmatch, folders)):
        return True
    return _ASIDE_FILE.match(name) is not None


def content(path: Path, most_bytes: int = _MOST_BYTES) -> bytes | None:
    """Return the content of a file; None if it is longer than ``most_bytes`` or cannot be read."""
    try:
        return read_bytes(path, most_bytes)
    except OSError:
        return None


def parse(path: Path) -> ast.Module | None:
    """Return the syntax tree of a file; None if this Python cannot parse it. No code is run."""
    parsed = _parsed(path)
    return parsed if isinstance(parsed, ast.Module) else None


def syntax_error(path: Path) -> SyntaxError | None:
    """Return the syntax error that this Python finds in a file; None without one."""
    parsed = _parsed(path)
    return parsed if isinstance(parsed, SyntaxError) else None


def _parsed(path: Path) -> ast.Module | Exception | None:
    source = content(path)
    try:
        return None if source is None else ast.parse(source, filename=str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
