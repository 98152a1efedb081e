"""Find the app's own Python: the race must run what the user runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..model.errors import InputError

__all__ = ["Buildable", "Interpreter", "can_import", "find_python", "is_executable"]

_FOLDERS = (".venv", "venv", "env")
_WAY_OUT = "give the app's interpreter with --python or [app] python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """The interpreter to use."""

    python: Path
    reason: str
    """Why this one, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Buildable:
    """A project without an interpreter that says what one would need."""

    requirements: Path
    """Its requirements.txt or pyproject.toml."""
    reason: str


def find_python(
    root: Path,
    needs: str,
    *,
    explicit: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    own_prefix: Path = Path(sys.prefix),
    imports: Callable[[Path, str, Path], bool] | None = None,
) -> Interpreter | Buildable:
    """Return the interpreter for the app in ``root``, or what to build one from.

    In this order: ``explicit`` (an interpreter or a virtual environment's folder), an environment in the
    project, $VIRTUAL_ENV, a private one from its requirements, python3 on PATH if it can import ``needs``.
    Stackrace's own environment (``own_prefix``) never counts as the app's. Raises InputError if none is left.
    """
    if explicit is not None:
        return Interpreter(python=_explicit(root, explicit), reason="as given")
    for folder in (root / name for name in _FOLDERS):
        if python := _python_of(folder):
            return Interpreter(python=python, reason=f"{folder.name}/ in the project")
    active = environ.get("VIRTUAL_ENV")
    if active and not _same(Path(active), own_prefix) and (python := _python_of(Path(active))):
        return Interpreter(python=python, reason="the active virtual environment")
    if requirements := _requirements(root):
        return Buildable(requirements=requirements, reason=f"no environment, but {requirements.name}")
    return _on_path(root, needs, environ, own_prefix, imports or can_import)


def _explicit(root: Path, given: Path) -> Path:
    # absolute(), never resolve(): an environment's interpreter is a link, and the link is what makes it one
    path = (root / given.expanduser()).absolute()
    python = _python_of(path) or path
    if not is_executable(python):
        raise InputError(f"{given} is not an interpreter (--python, [app] python); give one like .venv/bin/python")
    return python


def _python_of(folder: Path) -> Path | None:
    python = folder.absolute() / "bin" / "python"
    return python if is_executable(python) else None


def is_executable(path: Path) -> bool:
    """Tell whether ``path`` is a program that we may start."""
    return path.is_file() and os.access(path, os.X_OK)


def _same(first: Path, second: Path) -> bool:
    return first.resolve() == second.resolve()


def _requirements(root: Path) -> Path | None:
    requirements = root / "requirements.txt"
    if requirements.is_file():
        return requirements.absolute()
    pyproject = root / "pyproject.toml"
    return pyproject.absolute() if _declares_dependencies(pyproject) else None


def _declares_dependencies(pyproject: Path) -> bool:
    try:
        table = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    project = table.get("project")
    return isinstance(project, dict) and bool(project.get("dependencies"))


def _on_path(
    root: Path,
    needs: str,
    environ: Mapping[str, str],
    own_prefix: Path,
    imports: Callable[[Path, str, Path], bool],
) -> Interpreter:
    name = shutil.which("python3", path=environ.get("PATH"))
    if name is None:
        raise InputError(f"no Python found for the app in {root}: {_WAY_OUT}")
    python = Path(name).absolute()
    if _same(python.parent.parent, own_prefix):
        raise InputError(f"no Python found for the app in {root}, and {python} is Stackrace's own: {_WAY_OUT}")
    if not imports(python, needs, root):
        raise InputError(
            f"no Python found for the app in {root}, and {python} cannot import {needs}: {_WAY_OUT}, "
            "or add a requirements.txt"
        )
    return Interpreter(python=python, reason="python3 on PATH")


def can_import(python: Path, module: str, root: Path, timeout_s: float = 30.0) -> bool:
    """Tell whether ``python``, started in ``root``, can import ``module``."""
    code = "import importlib, os, sys; sys.path.insert(0, os.getcwd()); importlib.import_module(sys.argv[1])"
    try:
        result = subprocess.run(
            [str(python), "-c", code, module],
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0
