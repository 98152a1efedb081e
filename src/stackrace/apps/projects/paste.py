"""Pyramid's usual layout: an application that takes its settings from an ini file, as ``pserve`` gives them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ...model.app import Entry, EntryKind
from .code import content

__all__ = ["pasted"]

_APPLICATION = re.compile(rb"^\[(app|composite|filter-app|pipeline)(:main)?\]", re.MULTILINE)
_TESTS = "test"


def pasted(folder: Path) -> Iterator[tuple[Path, Entry]]:
    """Yield the ini files in ``folder`` that configure an application, each with its entry, production first."""
    for path in sorted(folder.glob("*.ini"), key=lambda path: (path.stem != "production", path.name)):
        if _APPLICATION.search(content(path) or b"") and not path.name.startswith(_TESTS):
            yield path, Entry(kind=EntryKind.WSGI, target=f"pyramid.paster:get_app({json.dumps(path.name)})")
