"""Files that a race needs although git does not know them: those that its request names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ....app.app import EntryKind
from ....base.present import is_file
from ....race.request.request import RaceRequest
from .settled import configs_of

__all__ = ["named_by"]

_WORDS = re.compile(r"""[^\s=<>|;&'"(),:]+""")
"""What may be a path in a command or a variable: ``-f dump.sql``, ``--data=rows.csv``, ``sqlite:///data.db``."""
_SYSTEM = tuple(map(Path, ("/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr")))
"""What each machine has of its own."""


def named_by(request: RaceRequest, top: Path) -> Iterator[Path]:
    """Yield the files and folders that ``request`` names, in the project at ``top`` or elsewhere, if they exist.

    Of commands and variables these are files alone: a folder may hold anything.
    """
    for path in _given(request):
        if path is not None and path.exists():
            yield path.absolute()
    for words in (*request.prepare, tuple(request.environment.values())):
        for word in words:
            yield from _in_words(word, request.folder, top)


def _given(request: RaceRequest) -> Iterator[Path | None]:
    yield from request.env_files
    yield from (request.static or {}).values()
    yield from request.protect
    yield from (request.session, *(workload.session for workload in request.workloads))
    yield from (request.folder / config for config in configs_of(request))
    yield from (request.servers, request.source)
    yield request.current if isinstance(request.current, Path) else None
    if request.entry is not None and request.entry.kind is EntryKind.FILES:
        yield request.folder / request.entry.target


def _in_words(text: str, folder: Path, top: Path) -> Iterator[Path]:
    """Yield the files that ``text`` leads to; outside of the project only plain data."""
    for word in _WORDS.findall(text):
        # a database's URL has three slashes before a relative path, and four before an absolute one
        for spelt in dict.fromkeys((word, f"/{word.lstrip('/')}", word.lstrip("/"))):
            path = Path(os.path.normpath(folder / spelt))
            if is_file(path) and (path.is_relative_to(top) or _is_data(path)):
                yield path


def _is_data(path: Path) -> bool:
    return not os.access(path, os.X_OK) and not any(path.is_relative_to(folder) for folder in _SYSTEM)
