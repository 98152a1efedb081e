"""What a bundled app is built and run with, and how to see whether that is here."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .ruby import missing_gems

__all__ = ["C_COMPILER", "Need", "lacking", "python_headers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A program, a file or a Ruby gem, and Debian's packages of it. What is left empty is not looked for."""

    packages: tuple[str, ...]
    program: str = ""
    file: Path | None = None
    gem: str = ""

    @property
    def words(self) -> str:
        """Say what is missing where it is."""
        if self.program:
            return f"no program {self.program}"
        return f"no file {self.file}" if self.file else f"no gem {self.gem}"


C_COMPILER = (
    Need(program="gcc", packages=("gcc",)),
    Need(file=Path("/usr/include/stdio.h"), packages=("libc6-dev",)),
)
"""What packages without wheels are compiled with, beside the headers of Python."""


def python_headers() -> tuple[Need, ...]:
    """Return the headers of Debian's own Python; any other brings its headers along."""
    folder = Path(sysconfig.get_path("include"))
    return (Need(file=folder / "Python.h", packages=("python3-dev",)),) if folder.parts[1:2] == ("usr",) else ()


def lacking(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Return those that are not here. Without a Ruby every gem is lacking."""
    needs = tuple(needs)
    gems = missing_gems([need.gem for need in needs if need.gem])
    return tuple(
        need
        for need in needs
        if (need.program and shutil.which(need.program) is None)
        or (need.file and not need.file.exists())
        or need.gem in gems
    )
