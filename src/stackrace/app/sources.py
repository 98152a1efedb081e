"""A digest of what an app consists of, to tell whether it is still the one that was raced."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..base.files import MOST_BYTES, opened
from ..base.present import is_present, walk
from .app import App, EntryKind
from .exported import MARK

__all__ = ["source_digest"]

CODE = frozenset([".py", ".pyi", ".rb", ".ru", ".erb", ".haml", ".slim", ".rake", ".html", ".htm", ".jinja",
                  ".jinja2", ".j2", ".mako", ".toml", ".cfg", ".ini", ".yaml", ".yml"])  # fmt: skip
"""What a server runs or renders. Other files may be written while the app runs: databases, logs, uploads."""

_SIGNS = ("pyvenv.cfg", MARK)
"""Files that tell a virtual environment, or exported files."""
_NOT_OURS = frozenset({"__pycache__", "node_modules", "site-packages", "tmp", "log"})


def source_digest(app: App, further: Sequence[Path] = ()) -> str:
    """Return the SHA-256, in hexadecimal, of the app's code by name and content, and of the files ``further``.

    Folders that are hidden, or virtual environments, are left out. Of plain files, name and size count.
    """
    digest = hashlib.sha256()
    plain = app.entry.kind is EntryKind.FILES
    for path in _files(app.root):
        if plain:
            _add(digest, path.relative_to(app.root), str(path.stat().st_size).encode() if is_present(path) else b"")
        elif path.suffix in CODE:
            _add(digest, path.relative_to(app.root), _content(path))
    for path in further:
        _add(digest, path, _content(path))
    return digest.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    """Yield the files below ``root`` in an order that is always the same."""
    for folder, inner, names in walk(root):
        inner[:] = sorted(name for name in inner if not _left_out(Path(folder, name)))
        for name in sorted(names):
            yield Path(folder, name)


def _left_out(folder: Path) -> bool:
    return (
        folder.name.startswith(".") or folder.name in _NOT_OURS or any(is_present(folder / name) for name in _SIGNS)
    )


def _content(path: Path) -> bytes:
    try:
        with opened(path) as file:
            size_bytes = os.fstat(file.fileno()).st_size
            # what is larger was not written by hand
            return hashlib.file_digest(file, "sha256").digest() if size_bytes <= MOST_BYTES else b"%d" % size_bytes
    except OSError:
        return b"unreadable"


def _add(digest: hashlib._Hash, name: Path, content: bytes) -> None:
    for part in (os.fsencode(name), content):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
