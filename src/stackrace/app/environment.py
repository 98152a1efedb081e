"""The variables that everything of the app runs with: its examination, its commands, its servers.

Files of variables are read where the user names one; of all others only what is to be masked.
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
from ..base.secrets import learn
from .app import App, EntryKind
from .project_files import project_folders

_ENV_FILE = re.compile(r"\.envrc|\.env([.-].+)?|[\w.-]+\.env|env[._-](example|sample|template)", re.IGNORECASE)
_TEMPLATE = re.compile(r"example|sample|template|tpl|dist\b", re.IGNORECASE)
"""Files of variables that are to be copied and filled in."""

_MOST_BYTES = 1 << 19
"""A file of variables for the app; a process cannot be given much more. Source: execve(2), Limits on size."""
_MOST_SEARCHED_BYTES = 1 << 22
"""The same for a file that is only searched for secrets."""
LONGEST = (1 << 17) - 1
"""Bytes of a variable with its name. Source: execve(2), Limits on size."""
_LINE = re.compile(
    r"""[^\S\n]*+(?:export[^\S\n]++)?(?:(?P<name>'[^'\n]++'|[^=#\s'][^=#\s]*+)[^\S\n]*+(?P<sets>=[^\S\n]*+(?:"""
    r""""(?P<double>[^"\\]*+(?:\\.[^"\\]*+)*)"|'(?P<single>[^'\\]*+(?:\\.[^'\\]*+)*)'|[^\n"'][^\n]*+|))?)?"""
    r"""[^\S\n]*+(?:\#[^\n]*+)?(?P<wrong>[^\n]*+)\n?""",
    re.DOTALL,
)
"""One binding of a file of variables as python-dotenv reads it, but in linear time: here nothing is tried twice."""
_ESCAPED = re.compile(r"\\([\\'\"abfnrtv])")


def bindings(content: str) -> Iterator[tuple[str, str | None, re.Match[str]]]:
    """Yield the names that a file of variables has, each with its value if it sets one, and where it does.

    The name of a line that is wrong is empty.
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
    """Return the files of variables of a project, the nearest and plainest first, and those to be filled in."""
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
    """Return what a project's files of variables set; an app may load them by python-dotenv, so they are masked."""
    variables: dict[str, str] = {}
    # python-dotenv looks for one above, wherever the project ends
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

    References to what has references may double the length with each line. python-dotenv does the same, but copies
    all variables for each.
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

    Raises InputError for a line of the file ``path``, if that is given, which is wrong or sets too much.
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
    project_variables(app.root)
    return variables


def settings_module(app: App) -> str:
    """Return a Django project's settings module, else nothing; ``app.environment`` may override it."""
    if app.entry.kind is not EntryKind.DJANGO:
        return ""
    return app.environment.get("DJANGO_SETTINGS_MODULE", app.entry.target)
