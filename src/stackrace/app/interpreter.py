"""Find the app's own Python or Ruby: the race must run what the user runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import AppError, InputError
from ..base.files import matching, real_path
from ..base.numbers import duration
from ..base.process.view import ProtectedView
from ..base.text import tail
from .app import App
from .environment import app_environment
from .known_pythons import KnownPython, is_executable, known_pythons, python_of
from .lock_files import LISTS
from .project_files import first_line, project_folders, table, text

_COMMANDS = {
    "uv.lock": "uv sync",
    "poetry.lock": "poetry install",
    "pdm.lock": "pdm install",
    "Pipfile": "pipenv install",
    "environment.yml": "conda env create",
    "environment.yaml": "conda env create",
    "pyproject.toml": "poetry install",
    "requirements.txt": "{python} -m pip install -r {path}",
    "setup.py": "python -m venv .venv && .venv/bin/pip install -e .",
}
"""Install commands, by the file that lists the packages; pyproject.toml counts only if it is Poetry's."""


def installers(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the project in ``root`` that list packages, each with the command that installs them.

    ``{python}`` in a command stands for the app's interpreter, ``{path}`` for the file.
    """
    for folder in project_folders(root):
        for name, command in _COMMANDS.items():
            path = folder / name
            if path.is_file() and (name != "pyproject.toml" or "[tool.poetry" in text(path)):
                yield path, command


_NEWER_TRIED = 8

_LEAST = re.compile(r"(?:>=|\^|~=?|==)\s*3\.(\d+)")


def _wanted_python(
    root: Path, environ: Mapping[str, str], current_minor: int = sys.version_info.minor
) -> Path | None:
    """Return the interpreter that .python-version or pyproject.toml asks for; None if Stackrace's version will do.

    ``current_minor`` is the minor version of Stackrace's Python. A version in .python-version that is not installed
    is ignored. Raises InputError if pyproject.toml asks for a newer version than is installed.
    """
    for folder in project_folders(root):
        if pinned := re.match(r"3\.\d+", first_line(folder / ".python-version")):
            return _installed(pinned[0], environ)
        if words := _required(folder / "pyproject.toml"):
            least = max(map(int, _LEAST.findall(words)), default=0)
            return (
                None if least <= current_minor else _newer_python(folder / "pyproject.toml", words, least, environ)
            )
    return None


def _required(pyproject: Path) -> str:
    match table(pyproject):
        case {"project": {"requires-python": str(words)}}:
            return words
        case {"tool": {"poetry": {"dependencies": {"python": str(words)}}}}:
            return words
    return ""


def _newer_python(pyproject: Path, words: str, least: int, environ: Mapping[str, str]) -> Path:
    for minor in range(least, least + _NEWER_TRIED):
        if python := _installed(f"3.{minor}", environ):
            return python
    raise InputError(
        f"{pyproject} wants Python {words}, and there is none here: install one, as with "
        f"`uv python install 3.{least}`, or give the app's interpreter with --python"
    )


def _installed(version: str, environ: Mapping[str, str]) -> Path | None:
    home = environ.get("PYENV_ROOT") or Path(environ.get("HOME") or Path.home()) / ".pyenv"
    installed = matching(Path(home) / "versions", f"{version}.*/bin/python")
    on_path = shutil.which(f"python{version}", path=environ.get("PATH"))
    return installed[-1] if installed else Path(on_path) if on_path else None


_WAY_OUT = "give the app's interpreter with --python or [app] python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Buildable:
    """A project without an environment that lists the packages to build one from."""

    requirements: Path
    """Project's requirements.txt or pyproject.toml."""
    reason: str
    base: Path | None = None
    """Interpreter that the project asks for; None if any will do."""


def find_python(
    root: Path,
    needs: str,
    *,
    explicit: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    stackrace_prefix: Path = Path(sys.prefix),
    problem: Callable[[Path], str],
) -> KnownPython | Buildable:
    """Return the interpreter for the app in ``root``, or the requirements to build an environment from.

    The order is: ``explicit`` (an interpreter or a virtual environment's folder), the environments in
    ``known_pythons``, a private environment from the requirements, python3 on PATH if it can import ``needs``.
    ``problem`` returns why an interpreter cannot, as `import_problem` does, or "".
    Stackrace's own environment (``stackrace_prefix``) never counts as the app's. Raises InputError if none is left.
    """
    if explicit is not None:
        return KnownPython(python=_given_python(root, explicit, environ), reason="")
    for known in known_pythons(root, environ):
        if not _is_in_prefix(known.python, stackrace_prefix) and (known.is_sure or not problem(known.python)):
            return known
    if requirements := _requirements(root):
        base = _wanted_python(root, environ)
        return Buildable(requirements=requirements, reason=f"no environment, but {requirements.name}", base=base)
    return _on_path(root, needs, environ, stackrace_prefix, problem)


def other_pythons(
    root: Path, used: Path, environ: Mapping[str, str] = os.environ, stackrace_prefix: Path = Path(sys.prefix)
) -> tuple[KnownPython, ...]:
    """Return the environments, besides ``used``, that the app in ``root`` may be meant to run in, each once."""
    others = {
        known.python: known
        for known in reversed(tuple(known_pythons(root, environ)))
        if known.python != used and not _is_in_prefix(known.python, stackrace_prefix)
    }
    return tuple(reversed(others.values()))


def _is_in_prefix(python: Path, stackrace_prefix: Path) -> bool:
    return _is_same_folder(python.parent.parent, stackrace_prefix)


def _given_python(root: Path, given: Path, environ: Mapping[str, str]) -> Path:
    # as a shell takes a bare name such as python3.12
    program = shutil.which(given.name, path=environ.get("PATH")) if len(given.parts) == 1 else None
    if program and not (root / given).exists():
        return Path(program).absolute()
    # absolute(), never resolve(): the link to an interpreter is what makes the environment
    path = (root / given.expanduser()).absolute()
    python = python_of(path) or path
    if not is_executable(python):
        raise InputError(f"{given} is not an interpreter (--python, [app] python); give one like .venv/bin/python")
    return python


def _is_same_folder(first: Path, second: Path) -> bool:
    return real_path(first) == real_path(second)


def _requirements(root: Path) -> Path | None:
    for folder in project_folders(root):
        for name in LISTS:
            if (folder / name).is_file():
                return folder / name
        pyproject = folder / "pyproject.toml"
        if table(pyproject, "project").get("dependencies"):
            return pyproject
    return None


def _on_path(
    root: Path,
    needs: str,
    environ: Mapping[str, str],
    stackrace_prefix: Path,
    problem: Callable[[Path], str],
) -> KnownPython:
    name = shutil.which("python3", path=environ.get("PATH"))
    if name is None:
        raise InputError(f"no Python found for the app in {root}: {_WAY_OUT}")
    python = Path(name).absolute()
    if _is_same_folder(python.parent.parent, stackrace_prefix):
        raise InputError(f"no Python found for the app in {root}, and {python} is Stackrace's own: {_WAY_OUT}")
    if why := problem(python):
        raise InputError(
            f"no Python found for the app in {root}, and {python} cannot import {needs} ({why}): {_WAY_OUT}, "
            f"or {_environment_hint(root)}"
        )
    return KnownPython(python=python, reason="python3 on PATH")


def _environment_hint(root: Path) -> str:
    for path, command in installers(root):
        return f"make its environment as {path.name} in {path.parent} wants: {command}"
    return "add a requirements.txt"


def import_problem(app: App, module: str, view: ProtectedView, timeout_s: float = 30.0) -> str:
    """Return why the interpreter of ``app`` cannot import ``module`` in ``view``; empty if it has all packages.

    A module that fails for another reason, such as an unset variable, was found: its examination says why.
    """
    code = (
        "import importlib, os, sys; sys.path.insert(0, os.getcwd())\n"
        "try: importlib.import_module(sys.argv[1])\n"
        "except ImportError as error: sys.exit(str(error) or 'ImportError')\n"
        "except Exception: pass\n"
    )
    try:
        command, environment = [str(app.python), "-c", code, module], app_environment(app)
        ended = view.run(command, folder=app.root, environment=environment, timeout_s=timeout_s)
    except OSError as error:
        return str(error.strerror)
    except subprocess.TimeoutExpired:
        return f"it takes longer than {duration(timeout_s)}"
    said = tail(view.relocation.original(ended.output), 1)
    return "" if not ended.code else said[0] if said else f"exit code {ended.code}"


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
