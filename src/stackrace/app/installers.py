"""What installs a project's packages, as the files of its tools say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .project_files import text
from .surroundings import project_folders

__all__ = ["installers"]

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
"""By the file that lists the packages; of pyproject.toml only where it is Poetry's."""


def installers(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the project in ``root`` that list packages, each with the command that installs them.

    ``{python}`` in a command stands for the app's interpreter, ``{path}`` for the file.
    """
    for folder in project_folders(root):
        for name, command in _COMMANDS.items():
            path = folder / name
            if path.is_file() and (name != "pyproject.toml" or "[tool.poetry" in text(path)):
                yield path, command
