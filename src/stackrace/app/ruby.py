"""Find the Ruby that runs a Rack app, and what it lacks."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from ..base.errors import AppError
from ..base.process import run
from .interpreter import is_executable

__all__ = ["find_ruby", "missing_gems"]

_MISSING = "puts ARGV.reject { |name| Gem::Specification.find_all_by_name(name).any? }"


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


def missing_gems(names: Sequence[str]) -> frozenset[str]:
    """Return which gems the ``ruby`` on PATH does not have; all of them where there is none."""
    ruby = shutil.which("ruby")
    if not names or ruby is None:
        return frozenset(names)
    result = run([str(Path(ruby).absolute()), "-e", _MISSING, "--", *names])
    return frozenset(names if result.code else set(names).intersection(result.output.split()))
