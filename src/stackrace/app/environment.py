"""The environment variables of the app, used for its examination, its commands and its servers.

Only env files that the user names set variables; all others are only searched for secrets to mask.
"""

from __future__ import annotations

import errno
import os
import re
from codecs import decode
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from ..base.errors import InputError, said_by
from ..base.files import is_file, matching, read_text
from ..base.secrets import register_secrets
from .app import App, EntryKind
from .project_files import project_folders

_ENV_FILE = re.compile(r"\.envrc|\.env([.-].+)?|[\w.-]+\.env|env[._-](example|sample|template)", re.IGNORECASE)
_TEMPLATE = re.compile(r"example|sample|template|tpl|dist\b", re.IGNORECASE)
"""Names of env files that are to be copied and filled in."""

_MOST_BYTES = 1 << 19
"""Most bytes of an env file; a process cannot be given much more. Source: execve(2), Limits on size."""
_MOST_SEARCHED_BYTES = 1 << 22
"""Most bytes of an env file that is only searched for secrets."""
LONGEST = (1 << 17) - 1
"""Most bytes of a variable, its name included. Source: execve(2), Limits on size."""
_LINE = re.compile(
    r"""[^\S\n]*+(?:export[^\S\n]++)?(?:(?P<name>'[^'\n]++'|[^=#\s'][^=#\s]*+)[^\S\n]*+(?P<sets>=[^\S\n]*+(?:"""
    r""""(?P<double>[^"\\]*+(?:\\.[^"\\]*+)*)"|'(?P<single>[^'\\]*+(?:\\.[^'\\]*+)*)'|[^\n"'][^\n]*+|))?)?"""
    r"""[^\S\n]*+(?:\#[^\n]*+)?(?P<wrong>[^\n]*+)\n?""",
    re.DOTALL,
)
"""One binding of an env file as python-dotenv reads it, but in linear time: the pattern never backtracks."""
_ESCAPED = re.compile(r"\\([\\'\"abfnrtv])")


def bindings(content: str) -> Iterator[tuple[str, str | None, re.Match[str]]]:
    """Yield each binding of an env file: its name, its value (None if it sets none), and the match.

    The name is empty for a line that is not valid.
    """
    for line in _LINE.finditer(content):
        name, value = line["name"] or "", line["double"]
        name = "" if line["wrong"] else name.strip("'") if name.startswith("'") else name
        if value is not None:
            value = _ESCAPED.sub(lambda escape: decode(escape[0], "unicode-escape"), value)
        elif (value := line["single"]) is not None:
            value = re.sub(r"\\([\\'])", r"\1", value)
        elif line["sets"]:
            value = re.split(r"\s#", line["sets"][1:], maxsplit=1)[0].strip()
        if name or line["wrong"]:
            yield name, value, line


def read_env_files(paths: Sequence[Path]) -> dict[str, str]:
    """Return the variables that the files ``paths`` set; a later file wins, and ``${NAME}`` is replaced.

    Names without a value are left out. Raises InputError for a file that cannot be read, naming the line.
    """
    variables: dict[str, str] = {}
    for path in paths:
        try:
            variables |= _set_by(read_text(path, _MOST_BYTES), path)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"--env-file ([app] env_file): {path} cannot be read: {said_by(error)}") from error
    return variables


def env_files(root: Path) -> tuple[list[Path], list[Path]]:
    """Return a project's env files, the nearest first, ``.env`` before others; and the templates of env files."""
    files = [
        path
        for folder in project_folders(root)
        for path in sorted(matching(folder, "*"), key=lambda path: (path.name != ".env", path.name))
        if _ENV_FILE.fullmatch(path.name) and path.is_file()
    ]
    templates = [path for path in files if _TEMPLATE.search(path.name)]
    return [path for path in files if path not in templates], templates


@cache
def project_variables(root: Path) -> Mapping[str, str]:
    """Return the variables that a project's env files set, and mask their secrets.

    An app may load such a file with python-dotenv. Raises InputError for a file that is too long to be searched.
    """
    variables: dict[str, str] = {}
    # python-dotenv also searches the folders above the project
    above = [path for folder in root.absolute().parents if is_file(path := folder / ".env")]
    for path in dict.fromkeys((*env_files(root)[0], *above)):
        try:
            content = read_text(path, _MOST_SEARCHED_BYTES, errors="replace")
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise InputError(
                    f"{path} may be loaded by the app, and has more than {_MOST_SEARCHED_BYTES >> 20} MiB, too "
                    "much to mask its secrets: move it out of the project, or rename it if it holds no variables"
                ) from error
            continue
        variables = _set_by(content) | variables
    return variables


def _interpolated(value: str, variables: Mapping[str, str]) -> str:
    """Return ``value`` with ``${NAME}`` and ``${NAME:-default}`` replaced, cut somewhere above ``LONGEST``.

    Nested references may double the length with each line, hence the cut. python-dotenv replaces alike, but copies
    all variables for each reference.
    """
    first, *references = value.split("${")
    shown, length, known = [first], len(first), ChainMap(variables, os.environ)  # type: ignore[arg-type]
    for reference in references:
        inner, end, rest = reference.partition("}")
        name, _, default = inner.partition(":-")
        part = f"{known.get(name, default)}{rest}" if end and ":" not in name else f"${{{reference}"
        length += len(part)
        if length > 2 * LONGEST:
            return "".join([*shown, part[:LONGEST]])
        shown.append(part)
    return "".join(shown)


def _set_by(content: str, path: Path | None = None) -> dict[str, str]:
    """Return the variables that ``content`` sets, and mask their secrets.

    If ``path`` is given, raises InputError for a line of that file which is not valid or sets too long a value.
    """
    variables: dict[str, str] = {}
    for name, value, line in bindings(content):
        fault = "" if name and "\0" not in line[0] else "is no NAME=value"
        variables.pop(name, None)
        if value is not None and name:
            value = _interpolated(value, variables)
            if len(os.fsencode(f"{name}={value}")) > LONGEST:
                fault = f"{name} is longer than 128 KiB, more than a process can be given"
            variables[name] = value[:LONGEST]
        if fault and path is not None:
            number = content.count("\n", 0, line.start()) + 1
            raise InputError(f"{path}, line {number}: {fault} (--env-file, [app] env_file)")
    register_secrets(variables)
    return variables


_NOT_THE_APPS = ("DJANGO_SETTINGS_MODULE", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables that the app does not inherit from Stackrace's shell: they point at another Python or project."""

_RACK_MODES = ("RACK_ENV", "RAILS_ENV")


def app_environment(app: App, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return ``environ`` with the app's variables and PATH, without the variables of Stackrace's own Python.

    The folder of the app's interpreter comes first in PATH, so that it runs ``python manage.py migrate``. A Rack
    app runs in production, whatever the shell says, unless its own variables say otherwise. The variables' secrets
    are masked from now on. Raises InputError if the interpreter's folder cannot be in PATH.
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
    register_secrets(variables, (app.name, *app.root.parts))
    project_variables(app.root)
    return variables


def settings_module(app: App) -> str:
    """Return a Django project's settings module, which ``app.environment`` may override; empty for other apps."""
    if app.entry.kind is not EntryKind.DJANGO:
        return ""
    return app.environment.get("DJANGO_SETTINGS_MODULE", app.entry.target)
