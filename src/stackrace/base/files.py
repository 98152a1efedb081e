"""Files of users and their projects: opened only where reading them comes to an end, and read to a bound."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

__all__ = ["MOST_BYTES", "MOST_COPIED_BYTES", "opened", "read_bytes", "read_text"]

MOST_BYTES = 16 << 20
"""More than any file that people or their tools write for a project, lock files included."""
MOST_COPIED_BYTES = 1 << 30
"""What is copied of a project at most, where it cannot be covered and the user says nothing."""
_PIECE_BYTES = 1 << 20


def opened(path: Path) -> BufferedReader:
    """Open a regular file to read, or a pipe that a shell made, as for ``<(command)``; raises OSError for all else.

    Opening waits for nobody, as that of a named pipe does, and nothing is read of a device, which may have no end.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode) and not (stat.S_ISFIFO(mode) and _has_no_name(handle)):
            kind = "named pipe" if stat.S_ISFIFO(mode) else "device"
            raise OSError(errno.EINVAL, f"it is a {kind}, not a file", str(path))
        os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except OSError:
        os.close(handle)
        raise


def read_bytes(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Return what a file holds; raises OSError as ``opened``, and for a file of more than ``most_bytes``."""
    content = bytearray()
    with opened(path) as file:
        # piece by piece, for room is made for all that a reading asks for
        while piece := file.read(min(_PIECE_BYTES, most_bytes + 1 - len(content))):
            content += piece
    if len(content) > most_bytes:
        bound = f"{most_bytes >> 20} MiB" if most_bytes >= 1 << 20 else f"{most_bytes >> 10} KiB"
        raise OSError(errno.EFBIG, f"it has more than {bound}; is it the right file?", str(path))
    return bytes(content)


def read_text(path: Path, most_bytes: int = MOST_BYTES, *, errors: str = "strict") -> str:
    """Return a file's text in UTF-8, without the byte order mark and the returns that some editors write.

    Raises OSError as ``read_bytes``, and UnicodeDecodeError.
    """
    text = read_bytes(path, most_bytes).decode("utf-8-sig", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _has_no_name(handle: int) -> bool:
    """Tell whether a pipe lies in no folder: then somebody writes to it already. Source: proc_pid_fd(5)."""
    return Path(f"/proc/self/fd/{handle}").readlink().name.startswith("pipe:")
