"""Find the app's own Python: the race must run what the user runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import InputError
from ..base.numbers import duration
from ..base.present import real_path
from ..base.printable import tail
from ..base.process import run
from .installers import installers
from .known_pythons import KnownPython, is_executable, known_pythons, python_of
from .local_packages import all_local_packages, local_packages
from .project_files import part, table
from .surroundings import project_folders
from .wanted_python import wanted_python

__all__ = ["Buildable", "find_python", "import_problem", "is_executable", "other_pythons"]

_WAY_OUT = "give the app's interpreter with --python or [app] python"

_REQUIREMENTS = (
    "requirements.txt",
    "requirements/production.txt",
    "requirements/prod.txt",
    "requirements/base.txt",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Buildable:
    """A project without an interpreter that says what one would need."""

    requirements: Path
    """Its requirements.txt or pyproject.toml."""
    reason: str
    base: Path | None = None
    """The interpreter that the project wants; None: any."""


def find_python(
    root: Path,
    needs: str,
    *,
    explicit: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    own_prefix: Path = Path(sys.prefix),
    problem: Callable[[Path, str, Path], str] | None = None,
) -> KnownPython | Buildable:
    """Return the interpreter for the app in ``root``, or what to build one from.

    In this order: ``explicit`` (an interpreter or a virtual environment's folder), the environments in
    ``known_pythons``, a private one from its requirements, python3 on PATH if it can import ``needs``.
    Stackrace's own environment (``own_prefix``) never counts as the app's. Raises InputError if none is left.
    """
    if explicit is not None:
        return KnownPython(python=_explicit(root, explicit, environ), reason="as given")
    problem = problem or import_problem
    for known in known_pythons(root, environ):
        if not _is_own(known.python, own_prefix) and (known.is_sure or not problem(known.python, needs, root)):
            return known
    if requirements := _requirements(root):
        base = wanted_python(root, environ)
        return Buildable(requirements=requirements, reason=f"no environment, but {requirements.name}", base=base)
    return _on_path(root, needs, environ, own_prefix, problem)


def other_pythons(
    root: Path, used: Path, environ: Mapping[str, str] = os.environ, own_prefix: Path = Path(sys.prefix)
) -> tuple[KnownPython, ...]:
    """Return the environments beside ``used`` that the app in ``root`` may have been meant to run in, each once."""
    others = {
        known.python: known
        for known in reversed(tuple(known_pythons(root, environ)))
        if known.python != used and not _is_own(known.python, own_prefix)
    }
    return tuple(reversed(others.values()))


def _is_own(python: Path, own_prefix: Path) -> bool:
    return _same(python.parent.parent, own_prefix)


def _explicit(root: Path, given: Path, environ: Mapping[str, str]) -> Path:
    if len(given.parts) == 1 and not (root / given).exists() and (program := _program(given.name, environ)):
        return program
    # absolute(), never resolve(): an environment's interpreter is a link, and the link is what makes it one
    path = (root / given.expanduser()).absolute()
    python = python_of(path) or path
    if not is_executable(python):
        raise InputError(f"{given} is not an interpreter (--python, [app] python); give one like .venv/bin/python")
    return python


def _program(name: str, environ: Mapping[str, str]) -> Path | None:
    """Return the interpreter that a bare name such as python3.12 means to a shell."""
    path = shutil.which(name, path=environ.get("PATH"))
    return Path(path).absolute() if path else None


def _same(first: Path, second: Path) -> bool:
    return real_path(first) == real_path(second)


def _requirements(root: Path) -> Path | None:
    """Return the file of requirements that is nearest to ``root`` in its project."""
    for folder in project_folders(root):
        for name in _REQUIREMENTS:
            if (folder / name).is_file():
                return folder / name
        pyproject = folder / "pyproject.toml"
        if part(table(pyproject), "project").get("dependencies"):
            return pyproject
    return None


def _on_path(
    root: Path,
    needs: str,
    environ: Mapping[str, str],
    own_prefix: Path,
    problem: Callable[[Path, str, Path], str],
) -> KnownPython:
    name = shutil.which("python3", path=environ.get("PATH"))
    if name is None:
        raise InputError(f"no Python found for the app in {root}: {_WAY_OUT}")
    python = Path(name).absolute()
    if _same(python.parent.parent, own_prefix):
        raise InputError(f"no Python found for the app in {root}, and {python} is Stackrace's own: {_WAY_OUT}")
    if why := problem(python, needs, root):
        raise InputError(
            f"no Python found for the app in {root}, and {python} cannot import {needs} ({why}): {_WAY_OUT}, "
            f"or {_what_makes_one(root)}"
        )
    return KnownPython(python=python, reason="python3 on PATH")


def _what_makes_one(root: Path) -> str:
    """Say which command makes the environment that is missing, where a file tells of its tool."""
    for path, command in installers(root):
        return f"make its environment as {path.name} in {path.parent} wants: {command}"
    for packages in all_local_packages(root):
        return f"give the one that {packages} is for: --python python{packages.parent.name}"
    return "add a requirements.txt"


def import_problem(
    python: Path, module: str, root: Path, timeout_s: float = 30.0, begin: Callable[[], None] | None = None
) -> str:
    """Say why ``python``, started in ``root``, lacks what ``module`` imports; empty where it has all.

    A module that fails for another reason, such as a variable that is not set, was found: its examination says why.
    ``begin`` runs in the new process first.
    """
    code = (
        "import importlib, os, sys; sys.path.insert(0, os.getcwd())\n"
        "try: importlib.import_module(sys.argv[1])\n"
        "except ImportError as error: sys.exit(str(error) or 'ImportError')\n"
        "except Exception: pass\n"
    )
    packages = local_packages(root, python)
    environment = {**os.environ, "PYTHONPATH": str(packages)} if packages else None
    try:
        command = [str(python), "-c", code, module]
        ended = run(command, folder=root, environment=environment, timeout_s=timeout_s, begin=begin)
    except OSError as error:
        return str(error.strerror)
    except subprocess.TimeoutExpired:
        return f"it takes longer than {duration(timeout_s)}"
    said = tail(ended.output, 1)
    return "" if not ended.code else said[0] if said else f"exit code {ended.code}"
