"""The variables that everything of the app runs with: its examination, its commands, its servers.

Files of variables are read where the user names one; of all others only what is to be masked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError, said_by
from ..base.files import read_text
from ..base.secrets import learn
from .app import App, EntryKind
from .project_files import project_folders, text

if TYPE_CHECKING:
    from dotenv.parser import Binding


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
def _learn_env_files(root: Path) -> None:
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


_NOT_THE_APPS = ("DJANGO_SETTINGS_MODULE", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables of the shell that Stackrace runs in: they point at another Python, or at another project."""

_RACK_MODES = ("RACK_ENV", "RAILS_ENV")


def app_environment(app: App, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return ``environ`` without what belongs to Stackrace's own Python, with the app's variables and PATH.

    The folder of the app's interpreter leads PATH, so that ``python manage.py migrate`` is run by it. A Rack app
    runs in production, whatever the shell says, unless its own variables say otherwise. Their secrets are masked
    from now on. Raises InputError for an interpreter that cannot lead PATH.
    """
    kept = {name: value for name, value in environ.items() if name not in _NOT_THE_APPS}
    if interpreter := app.python or app.ruby:
        if os.pathsep in str(interpreter.parent):
            raise InputError(
                f"{interpreter} cannot lead PATH, which {os.pathsep!r} divides: rename its folder, or give another "
                f"interpreter as [app] {'python' if app.python else 'ruby'}"
            )
        kept["PATH"] = os.pathsep.join((str(interpreter.parent), kept.get("PATH", os.defpath)))
    if app.entry.kind is EntryKind.RACK:
        kept |= dict.fromkeys(_RACK_MODES, "production")
    if settings := settings_module(app):
        kept["DJANGO_SETTINGS_MODULE"] = settings
    variables = kept | dict(app.environment)
    learn(variables, (app.name, *app.root.parts))
    _learn_env_files(app.root)
    return variables


def settings_module(app: App) -> str:
    """Return a Django project's settings module, else nothing; ``app.environment`` may override it."""
    if app.entry.kind is not EntryKind.DJANGO:
        return ""
    return app.environment.get("DJANGO_SETTINGS_MODULE", app.entry.target)
