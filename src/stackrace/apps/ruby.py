"""Find the Ruby that runs a Rack app."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..model.errors import AppError
from .interpreter import is_executable

__all__ = ["find_ruby"]


def find_ruby(root: Path, explicit: Path | None = None) -> Path:
    """Return ``explicit``, relative to ``root``, or the ``ruby`` on PATH; raises AppError when there is none."""
    if explicit is not None:
        interpreter = (root / explicit.expanduser()).absolute()
        if is_executable(interpreter):
            return interpreter
        raise AppError(f"{explicit} is not an interpreter ([app] ruby); give one like /usr/bin/ruby")
    ruby = shutil.which("ruby")
    if ruby is None:
        raise AppError("no Ruby found for the Rack app: stackrace install puma brings one, or set [app] ruby")
    return Path(ruby).absolute()
