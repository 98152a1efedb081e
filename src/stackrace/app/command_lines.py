"""Commands in a race file: words that are run without a shell, or a line for a shell if the file says so."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping

_TOKEN = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|.""", re.DOTALL)
_EXPANSION = re.compile(r"\$\{?[A-Za-z_]\w*\}?|\$\(|`")
_OPERATOR = re.compile(r"&&|\|\||[|<>;&]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")

_SHELL = ("sh", "-ec", '(set -o pipefail 2>/dev/null) && set -o pipefail; eval "$1"', "prepare")
"""Command that runs the line behind it; with shells that know ``pipefail``, a failure within a pipe counts."""

_EXAMPLE = 'write it like "python manage.py migrate", or { run = "zcat dump.gz | psql", shell = true }'


def command_of(value: object) -> tuple[str, ...]:
    """Return the words of ``"python manage.py migrate"``, or of ``{ run = "psql < dump.sql", shell = true }``.

    Raises ValueError for an open quote, and for syntax that only a shell understands; it says what to write.

    >>> command_of("psql -c 'SELECT 1; SELECT 2'")
    ('psql', '-c', 'SELECT 1; SELECT 2')
    """
    line, in_shell = _command_and_shell(value)
    if not line.strip():
        raise ValueError(f"is empty; {_EXAMPLE}")
    if "\0" in line:
        raise ValueError("must not hold a NUL character; no command can")
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"{str(error).lower()} in {line!r}; close it, or escape it with a backslash") from error
    if in_shell:
        return (*_SHELL, line)
    if special := _special(line):
        raise ValueError(
            f"{special} in {line!r} is for a shell; write {{ run = {json.dumps(line, ensure_ascii=False)}, "
            "shell = true }, put it into a script, or quote it"
        )
    return tuple(words)


def display(command: tuple[str, ...]) -> str:
    """Return a command about as the user wrote it."""
    return command[-1] if command[: len(_SHELL)] == _SHELL else shlex.join(command)


def _command_and_shell(value: object) -> tuple[str, bool]:
    if isinstance(value, str):
        return value, False
    if not isinstance(value, Mapping) or not isinstance(value.get("run"), str):
        raise ValueError(f"must be text or a table with run; {_EXAMPLE}")
    shell = value.get("shell", False)
    if not isinstance(shell, bool) or value.keys() - {"run", "shell"}:
        raise ValueError(f"knows the keys run and shell only, shell being true or false; {_EXAMPLE}")
    return value["run"], shell


def _special(line: str) -> str:
    """Return the first unquoted part of ``line`` that only a shell understands; empty without one."""
    bare, expandable = "", ""
    for token in _TOKEN.findall(line):
        if (token[0] == "'" and len(token) > 1) or token[0] == "\\":
            bare += "_"
            continue
        expandable += token
        bare += "_" if token[0] == '"' else token
    for found in (_EXPANSION.search(expandable), _OPERATOR.search(bare), _ASSIGNMENT.match(bare)):
        if found:
            return found[0]
    return ""
