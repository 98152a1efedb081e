"""Pyramid's usual layout: an application that takes its settings from an ini file, as ``pserve`` gives them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ...model.app import Entry, EntryKind
from .code import content, is_aside

__all__ = ["pasted"]

_APPLICATION = re.compile(rb"^\[(app|composite|filter-app|pipeline)(:main)?\]", re.MULTILINE)
_TESTS = "test"
_PLACES = ("*.ini", "*/*.ini")


def pasted(folder: Path) -> Iterator[tuple[Path, Entry]]:
    """Yield the ini files in ``folder`` and right below that configure an application, production first."""
    files = [path for pattern in _PLACES for path in folder.glob(pattern) if not is_aside(path, folder)]
    for path in sorted(files, key=lambda path: (path.stem != "production", path)):
        if _APPLICATION.search(content(path) or b"") and not path.name.startswith(_TESTS):
            name = json.dumps(str(path.relative_to(folder)))
            yield path, Entry(kind=EntryKind.WSGI, target=f"pyramid.paster:get_app({name})")
