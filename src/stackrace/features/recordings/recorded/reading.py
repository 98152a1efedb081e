"""Tells a HAR file from an access log, and reads either."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

from stackrace.base.files import opened

from .access_log import from_access_log
from .har import from_har
from .step import RecordingError, Steps

_HAR_MAX_BYTES = 1 << 30
"""The longest HAR file that is read: all of it is held at once."""

_HEAD_BYTES = 64 * 1024
"""How much of a file is looked at to tell what it is."""


def read(path: Path, limit: int | None = None) -> Steps:
    """Read the first ``limit`` steps of the file at ``path``, which may be a pipe: it is opened and read once.

    What begins with ``{``, after a byte order mark and blanks, is a HAR file; everything else is an access log.

    OSError: it cannot be read. RecordingError: it cannot be replayed.
    """
    with opened(path) as file:
        head = file.read(_HEAD_BYTES)
        if head.startswith(b"\x1f\x8b"):
            raise RecordingError("it is compressed with gzip; unpack it first with gunzip")
        if not head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\n\r\x0c").startswith(b"{"):
            return from_access_log(io.BufferedReader(_Rejoined(head, file), _HEAD_BYTES), limit)
        return from_har(_whole(head, file, _HAR_MAX_BYTES), limit)


def _whole(head: bytes, file: BinaryIO, max_bytes: int) -> bytes:
    content = head + file.read(max(max_bytes + 1 - len(head), 0))
    if len(content) > max_bytes:
        raise RecordingError(
            f"it is a HAR file of more than {max_bytes >> 20} MiB; "
            "record a shorter session, or without answers' bodies"
        )
    return content


class _Rejoined(io.RawIOBase):
    """A file with its first bytes, already taken from it, in front again."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head = head
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        block = block or self._file.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)
