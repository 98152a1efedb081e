"""Archives that are the same, byte for byte, for the same content: names, links, bytes, and what is executable.

Owners, times and other rights are left out: a fresh checkout has others. Source: tarfile, pax(1).
"""

from __future__ import annotations

import hashlib
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ....base.errors import InputError
from ....base.files import opened
from ....base.foreign import said_by

__all__ = ["PIECE_BYTES", "Content", "digest_of", "pieces"]

PIECE_BYTES = 4 * 2**20
"""What is sent in one call: enough that calls cost little, few enough to be held in memory."""
MADE_AT = 946_684_800
"""When everything was made, in seconds since 1970: the year 2000, which ZIP can say, too."""
_BLOCK = tarfile.BLOCKSIZE
_END = b"\0" * (2 * _BLOCK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What goes into an archive."""

    names: tuple[Path, ...]
    """By absolute paths, under which it is unpacked, too."""
    roots: tuple[Path, ...]
    """The folders and files that are sent, in this archive or another: links may lead to these."""
    sources: Mapping[Path, Path] = field(default_factory=dict)
    """Where the content of a name is read, where that is not the file of this name."""
    follow: bool = False
    """Whether links that lead elsewhere are replaced by the files that they lead to."""

    def stray(self) -> Iterator[tuple[Path, str]]:
        """Yield the links that lead out of all that is sent, with what they say."""
        for name in () if self.follow else self.names:
            if name.is_symlink() and self.led(name) is None:
                yield name, str(name.readlink())

    def led(self, link: Path) -> str | None:
        """Return where ``link`` leads, relative to its folder; None where that is outside of all that is sent."""
        target = link.readlink()
        whole = Path(os.path.normpath(link.parent / target))
        if not self._holds(whole):
            whole = Path(os.path.realpath(whole.parent), whole.name)
            if not target.is_absolute() or not self._holds(whole):
                return None
        return os.path.relpath(whole, link.parent) if target.is_absolute() else str(target)

    def _holds(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self.roots)


def pieces(content: Content) -> Iterator[bytes]:
    """Yield the archive of ``content`` in pieces of ``PIECE_BYTES``, but for the last.

    Raises InputError for a file that cannot be read, or that changes meanwhile.
    """
    waiting = bytearray()
    for chunk in _stream(content):
        waiting += chunk
        while len(waiting) >= PIECE_BYTES:
            yield bytes(waiting[:PIECE_BYTES])
            del waiting[:PIECE_BYTES]
    if waiting:
        yield bytes(waiting)


def digest_of(content: Content) -> tuple[str, int]:
    """Return the digest of the archive of ``content``, and its bytes; raises as ``pieces`` does."""
    digest, size = hashlib.sha256(), 0
    for chunk in _stream(content):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def _stream(content: Content) -> Iterator[bytes]:
    for name in sorted(content.names, key=os.fsencode):
        source = content.sources.get(name, name)
        try:
            yield from _member(content, name, source)
        except FileNotFoundError as error:
            raise _changed(source) from error
        except OSError as error:
            raise InputError(
                f"{source} cannot be read, and the hosts need it: {said_by(error)}; give yourself the right to "
                "read it, or let .gitignore name it if the app does without"
            ) from error
    yield _END


def _member(content: Content, name: Path, source: Path) -> Iterator[bytes]:
    member = tarfile.TarInfo("/".join(name.parts[1:]))
    member.mtime = MADE_AT
    status = source.lstat()
    if stat.S_ISLNK(status.st_mode):
        led = content.led(name)
        if led is not None or not content.follow:
            member.type = tarfile.SYMTYPE
            # one that leads elsewhere is refused before anything is sent
            member.linkname = str(name.readlink()) if led is None else led
            member.mode = 0o777
            yield _header(member)
            return
        status = source.stat()
    if stat.S_ISDIR(status.st_mode):
        member.type = tarfile.DIRTYPE
        member.mode = 0o755
        yield _header(member)
        return
    if not stat.S_ISREG(status.st_mode):
        # sockets and pipes are nobody's data
        return
    with opened(source) as file:
        status = os.fstat(file.fileno())
        member.size = status.st_size
        member.mode = 0o755 if status.st_mode & stat.S_IXUSR else 0o644
        yield _header(member)
        yield from _bytes_of(file, source, member.size)


def _bytes_of(file: BinaryIO, source: Path, size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = file.read(min(left, PIECE_BYTES))
        if not chunk:
            raise _changed(source)
        left -= len(chunk)
        yield chunk
    yield b"\0" * (-size % _BLOCK)


def _header(member: tarfile.TarInfo) -> bytes:
    return member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


def _changed(path: Path) -> InputError:
    return InputError(f"{path} changed while it was packed for the hosts; start again once nobody writes to it")
