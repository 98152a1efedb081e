"""Variables out of .env files: read where the user names one; of all others only what is to be masked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError
from ..base.files import read_text
from ..base.foreign import said_by
from ..base.secrets import learn
from .project_files import text
from .surroundings import project_folders

if TYPE_CHECKING:
    from dotenv.parser import Binding

__all__ = ["env_files", "learn_env_files", "read_env_files"]

_ENV_FILE = re.compile(r"\.envrc|\.env([.-].+)?|[\w.-]+\.env|env[._-](example|sample|template)", re.IGNORECASE)
_TEMPLATE = re.compile(r"example|sample|template|tpl|dist\b", re.IGNORECASE)
"""Files of variables that are to be copied and filled in."""

_WHERE = "--env-file, [app] env_file"


def read_env_files(paths: Sequence[Path]) -> dict[str, str]:
    """Return the variables that the files ``paths`` set; a later file wins, and ``${NAME}`` is replaced.

    Names without a value are left out. Raises InputError for a file that cannot be read, naming the line.
    """
    variables: dict[str, str] = {}
    for path in paths:
        variables |= _read(path)
    return variables


def env_files(root: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of variables of a project, the nearest and plainest first, and those to be filled in."""
    files = [
        path
        for folder in project_folders(root)
        for path in sorted(_listed(folder), key=lambda path: (path.name != ".env", path.name))
        if _ENV_FILE.fullmatch(path.name) and path.is_file()
    ]
    templates = [path for path in files if _TEMPLATE.search(path.name)]
    return [path for path in files if path not in templates], templates


@cache
def learn_env_files(root: Path) -> None:
    """Have the secrets in a project's files of variables masked: the app may load them itself, by python-dotenv."""
    for path in env_files(root)[0]:
        bindings = _bindings(text(path))
        learn(_values("".join(each.original.string for each in bindings if not each.error)))


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _bindings(content: str) -> list[Binding]:
    from dotenv.parser import parse_stream

    return list(parse_stream(StringIO(content)))


def _values(content: str) -> dict[str, str]:
    from dotenv import dotenv_values

    values = dotenv_values(stream=StringIO(content))
    return {name: value for name, value in values.items() if value is not None}


def _read(path: Path) -> dict[str, str]:
    try:
        content = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--env-file ([app] env_file): {path} cannot be read: {said_by(error)}") from error
    for binding in _bindings(content):
        if binding.error or "\0" in binding.original.string:
            raise InputError(f"{path}, line {binding.original.line}: is no NAME=value ({_WHERE})")
    variables = _values(content)
    learn(variables)
    return variables
