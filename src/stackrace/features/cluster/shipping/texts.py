"""Paths in texts: on a host, settings, scripts and links of the project that was sent name the files there."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ....base.files import read_bytes
from ....base.present import walk
from ....deploy.app_files import Relocation
from ....deploy.project_files import files_below

__all__ = ["relocate_below", "relocated"]

_TEXTS = frozenset(
    ("", ".py", ".rb", ".ru", ".sh", ".env", ".toml", ".ini", ".cfg", ".conf", ".json", ".yaml", ".yml", ".pth")
)
"""Endings of files that may say where others lie."""
_LONGEST_TEXT_BYTES = 2**20


def relocated(relocation: Relocation, text: str) -> str:
    """Return ``text`` with the copies' paths wherever it names originals."""
    if not relocation.copied:
        return text
    longest_first = sorted(relocation.copied, key=len, reverse=True)
    names = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, longest_first))})(?![\w.-])")
    return names.sub(lambda match: str(relocation.below(relocation.copied[match[0]])), text)


def relocate_below(relocation: Relocation) -> None:
    """Let links, settings and scripts among the copies name copies where they name originals."""
    assert relocation.place
    for folder, folders, names in walk(relocation.place):
        for path in (Path(folder, name) for name in (*folders, *names)):
            if path.is_symlink():
                _relocate_link(relocation, path)
    for path in files_below(relocation.place):
        if path.suffix in _TEXTS or path.name.startswith(".env"):
            _relocate_text(relocation, path)


def _relocate_link(relocation: Relocation, link: Path) -> None:
    target = link.readlink()
    copy = relocation.path(target) if target.is_absolute() else target
    # what is not copied is there as a link to the original itself
    if copy not in (target, link) and (copy.is_symlink() or copy.exists()):
        link.unlink()
        link.symlink_to(copy)


def _relocate_text(relocation: Relocation, path: Path) -> None:
    status = path.stat()
    if status.st_size > _LONGEST_TEXT_BYTES:
        return
    before = read_bytes(path)
    after = os.fsencode(relocated(relocation, os.fsdecode(before)))
    if after != before and b"\0" not in before:
        path.chmod(status.st_mode | 0o200)
        path.write_bytes(after)
        path.chmod(status.st_mode & 0o7777)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
