"""Find the Ruby that runs a Rack app."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..model.errors import AppError

__all__ = ["find_ruby"]


def find_ruby(root: Path, explicit: Path | None = None) -> Path:
    """Return ``explicit``, relative to ``root``, or the ``ruby`` on PATH; raises AppError when there is none."""
    if explicit is not None:
        given = (root / explicit.expanduser()).absolute()
        if given.is_file() and os.access(given, os.X_OK):
            return given
        raise AppError(f"{explicit} is not an interpreter ([app] ruby); give one like /usr/bin/ruby")
    found = shutil.which("ruby")
    if found is None:
        raise AppError("no Ruby found for the Rack app: stackrace install puma brings one, or set [app] ruby")
    return Path(found).absolute()
