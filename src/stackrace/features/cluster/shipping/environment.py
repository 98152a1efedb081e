"""The app's environment on this machine: its virtual environment, or packages that lie beside the project."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ....app import Buildable
from ....app.app import Entry, EntryKind
from ....app.local_packages import local_packages
from ....base.errors import InputError
from ....base.present import real_path, walk
from ....base.process import run
from ....race.preparation.app import python_for
from ....race.request.request import RaceRequest
from .parcel import Interpreter

__all__ = ["FACTS", "Environment", "environment_of", "facts_of"]

FACTS = (
    "import json, sys, sysconfig; print(json.dumps([sys._base_executable, "
    "'%d.%d' % sys.version_info[:2], sysconfig.get_config_var('EXT_SUFFIX')]))"
)
"""What an interpreter says of itself."""
STARTS_S = 30.0
_PYTHON = re.compile(r"python(3(\.\d+)?t?)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What is sent of it; nothing where hosts build it from requirements, or have it themselves."""

    homes: tuple[Path, ...] = ()
    """Its folders and files, without links on the way."""
    interpreter: Interpreter | None = None
    python: Path | None = None
    """The app's interpreter, as found here; None where hosts find their own."""
    is_found_again: bool = False
    """Whether hosts find it by themselves, since it lies right in the app's folder."""

    def names(self) -> Iterator[Path]:
        """Yield the files and links that are sent, without byte code and without the interpreter itself."""
        own = self.interpreter and [self.interpreter.home / "bin" / name for name in self.interpreter.names]
        for home in self.homes:
            yield from (path for path in _below(home, set(self.homes)) if path not in (own or ()))


def environment_of(request: RaceRequest, entry: Entry, root: Path) -> Environment:
    """Return what the app at ``root`` runs in here. Raises InputError for an interpreter that does not start."""
    if entry.kind is EntryKind.FILES:
        return Environment()
    if entry.kind is EntryKind.RACK:
        folders = (root / "vendor" / "bundle", root / ".bundle")
        return Environment(homes=tuple(real_path(folder) for folder in folders if folder.is_dir()))
    try:
        found = python_for(root, entry, request.python)
    except InputError:
        # hosts may have one
        return Environment()
    if isinstance(found, Buildable):
        return Environment()
    home = found.python.parent.parent
    if (home / "pyvenv.cfg").is_file():
        home = real_path(home)
        return Environment(
            # a project may lie in its environment, or be one itself
            homes=tuple(_parts(home)) if real_path(root).is_relative_to(home) else (home,),
            interpreter=_interpreter(found.python, home),
            python=found.python,
            is_found_again=request.python is None and home.parent == real_path(root),
        )
    packages = local_packages(root, found.python)
    is_conda = (home / "conda-meta").is_dir()
    return Environment(
        homes=() if packages is None else (real_path(packages),), python=found.python if is_conda else None
    )


def _parts(home: Path) -> Iterator[Path]:
    """Yield what of a folder makes it an environment. Source: venv."""
    for name in ("pyvenv.cfg", "bin", "include", "lib", "lib64", "share"):
        if os.path.lexists(home / name):
            yield home / name


def facts_of(python: Path) -> tuple[Path, str, str] | None:
    """Return the interpreter that ``python`` was made from, its version, and how its modules end; None for none."""
    try:
        ended = run([str(python), "-I", "-c", FACTS], folder=Path("/"), timeout_s=STARTS_S)
        base, version, suffix = json.loads(ended.output.splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError):
        return None
    return Path(base), str(version), str(suffix)


def _interpreter(python: Path, home: Path) -> Interpreter:
    facts = facts_of(python)
    if facts is None:
        raise InputError(f"{python} does not start; make the app's environment anew, or give another with --python")
    base, version, suffix = facts
    names = [path.name for path in (home / "bin").iterdir() if _PYTHON.fullmatch(path.name)]
    return Interpreter(home=home, names=tuple(sorted(names)), base=base, version=version, suffix=suffix)


def _below(folder: Path, seen: set[Path]) -> Iterator[Path]:
    """Yield files and links; a link to a folder elsewhere is followed once, as installers link to their caches."""
    if not folder.is_dir() or (folder.is_symlink() and folder in seen):
        yield folder
        return
    for place, folders, files in walk(folder):
        here = Path(place)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in links and name != "__pycache__")
        yield from (here / name for name in sorted(files))
        for link in (here / name for name in sorted(links)):
            target = real_path(link)
            if any(target.is_relative_to(home) for home in seen):
                yield link
            elif target.is_dir():
                seen.add(target)
                yield from _below(link, seen)
