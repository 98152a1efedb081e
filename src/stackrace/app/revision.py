"""State of the code that is raced: its git commit, and a digest of its files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.files import MOST_BYTES, is_present, opened, real_path
from ..base.process import Repository, repository
from .app import App, EntryKind
from .project_files import folders_below


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A project's code as it was when it was raced."""

    project: str
    """Digest of the project's origin: races with the same digest are of the same project."""
    commit: str = ""
    """Full hash of the commit that is checked out; empty if there is none."""
    committed_at: str = ""
    """When that commit was made, in ISO 8601."""
    changed: bool = False
    """True if files differ from that commit."""

    @property
    def short(self) -> str:
        """The commit as people write it: ``3f2a91c``, ``3f2a91c+`` with changes; empty without a commit."""
        return self.commit[:7] + "+" * self.changed


def project_of(folder: Path) -> str:
    """Return the digest that identifies the project in ``folder``.

    Clones of one repository are one project, by the address of ``origin``; without ``origin`` or without git, the
    path decides. Raises RepositoryError for a repository that belongs to another user, or cannot be read.
    """
    return _project_digest(folder, repository(folder))


def source_of(folder: Path) -> Source:
    """Return the state of the code in ``folder``, from git's files; without a commit, only its project.

    Raises RepositoryError as ``project_of`` does.
    """
    found = repository(folder)
    project = _project_digest(folder, found)
    if found is None or not found.head:
        return Source(project=project)
    below = real_path(folder)
    try:
        status = found.status()
        changed = any((found.top / name).is_relative_to(below) for name in (*status.changed, *status.new))
    except FileNotFoundError:
        # the clone lacks the files that the answer needs
        changed = True
    return Source(project=project, commit=found.head, committed_at=found.committed_at, changed=changed)


def _project_digest(folder: Path, git_repository: Repository | None) -> str:
    folder = real_path(folder)
    if git_repository is None:
        return _digest(str(folder))
    return _digest(
        f"{_address(git_repository.origin or str(git_repository.top))} {folder.relative_to(git_repository.top)}"
    )


def _address(home: str) -> str:
    """Return an address without the parts that differ between clones: user, protocol, ``.git``.

    >>> _address("git@example.com:shop/site.git") == _address("https://me@example.com/shop/site")
    True
    """
    place = home.partition("://")[2] or home.replace(":", "/", 1)
    return place.rpartition("@")[2].removesuffix("/").removesuffix(".git").lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


_CODE = frozenset([".py", ".pyi", ".rb", ".ru", ".erb", ".haml", ".slim", ".rake", ".html", ".htm", ".jinja",
                  ".jinja2", ".j2", ".mako", ".toml", ".cfg", ".ini", ".yaml", ".yml"])  # fmt: skip
"""Suffixes of files that a server runs or renders; the app may write other files: databases, logs, uploads."""

_NOT_OURS = frozenset({"__pycache__", "node_modules", "site-packages", "tmp", "log"})


def source_digest(app: App, further: Sequence[Path] = ()) -> str:
    """Return the SHA-256, in hexadecimal, of the names and contents of the app's code and the files ``further``.

    Hidden folders and virtual environments are left out. Of an app of plain files, only names and sizes count.
    """
    digest = hashlib.sha256()
    plain = app.entry.kind is EntryKind.FILES
    for path in (place / name for place, _, names in folders_below(app.root, _NOT_OURS) for name in names):
        if plain:
            _add(digest, path.relative_to(app.root), str(path.stat().st_size).encode() if is_present(path) else b"")
        elif path.suffix in _CODE:
            _add(digest, path.relative_to(app.root), _content_digest(path))
    for path in further:
        _add(digest, path, _content_digest(path))
    return digest.hexdigest()


def _content_digest(path: Path) -> bytes:
    try:
        with opened(path) as file:
            size_bytes = os.fstat(file.fileno()).st_size
            # a larger file was not written by hand
            return hashlib.file_digest(file, "sha256").digest() if size_bytes <= MOST_BYTES else b"%d" % size_bytes
    except OSError:
        return b"unreadable"


def _add(digest: hashlib._Hash, name: Path, content: bytes) -> None:
    for part in (os.fsencode(name), content):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
