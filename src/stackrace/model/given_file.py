"""Files that the user names: opened only where reading them comes to an end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

__all__ = ["opened", "read_given"]


def opened(path: Path) -> BinaryIO:
    """Open a file or a pipe to read; raises OSError also for a device, such as /dev/zero, which may have no end."""
    file = path.open("rb")
    if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is a device, not a file", str(path))
    return file


def read_given(path: Path) -> bytes:
    """Return what a file or a pipe holds; raises OSError as ``opened``."""
    with opened(path) as file:
        return file.read()
