"""Archives unpacked so that nothing of them lands outside of their folder, whoever made them.

The rules are those of tarfile's ``data`` filter, and narrower: files, folders and links only. They are kept by
hand, for Debian's Python 3.11 lacks that filter. Source: PEP 706.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ....base.errors import InputError
from ....base.foreign import said_by

__all__ = ["unpack"]


def unpack(archive: Path, folder: Path) -> None:
    """Unpack ``archive`` into ``folder``, which is there, and has no link in its path.

    Raises InputError for a member that leads out of it or is neither file, folder nor link, and for what is no
    archive; OSError where there is no room. What was unpacked until then stays.
    """
    try:
        with tarfile.open(archive, "r:") as opened:
            links = list(_files(opened, folder))
    except tarfile.TarError as error:
        raise InputError(f"what was sent is no archive: {said_by(error)}") from error
    # last, so that nothing is ever written through one
    for path, target in links:
        path.symlink_to(target)
    for path, _ in links:
        if not Path(os.path.realpath(path)).is_relative_to(folder):
            raise _hostile(path.relative_to(folder), "it leads out of the folder that it is unpacked in")


def _files(opened: tarfile.TarFile, folder: Path) -> Iterator[tuple[Path, str]]:
    """Write files and folders; yields the links that are still to be made."""
    for member in opened:
        path = _place(member, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        if member.issym():
            yield path, _target(member)
        elif member.isdir():
            path.mkdir(exist_ok=True)
        elif member.isreg():
            content = opened.extractfile(member)
            assert content is not None
            with content:
                _write(content, path, member)
        else:
            raise _hostile(member.name, "it is neither a file, nor a folder, nor a symbolic link")


def _place(member: tarfile.TarInfo, folder: Path) -> Path:
    path = Path(os.path.normpath(folder / member.name))
    if Path(member.name).is_absolute() or ".." in Path(member.name).parts or path == folder:
        raise _hostile(member.name, "its name leads out of the folder that it is unpacked in")
    if Path(os.path.realpath(path.parent)) != path.parent:
        raise _hostile(member.name, "it lies behind a link")
    return path


def _target(member: tarfile.TarInfo) -> str:
    if Path(member.linkname).is_absolute():
        raise _hostile(member.name, "it leads out of the folder that it is unpacked in")
    return member.linkname


def _write(content: IO[bytes], path: Path, member: tarfile.TarInfo) -> None:
    mode = 0o755 if member.mode & 0o100 else 0o644
    # a file of that name is none of ours: what is unpacked is new
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(content, file, 2**20)
        os.fchmod(handle, mode)
    os.utime(path, (member.mtime, member.mtime))


def _hostile(name: object, why: str) -> InputError:
    return InputError(f"{name} is refused, for {why}: the archive is none that Stackrace made")
