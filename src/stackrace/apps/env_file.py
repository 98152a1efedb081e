"""Variables out of .env files, read only where the user names one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..model.errors import InputError
from ..model.files import read_text
from ..model.foreign import said_by

__all__ = ["read_env_files"]

_WHERE = "--env-file, [app] env_file"


def read_env_files(paths: Sequence[Path]) -> dict[str, str]:
    """Return the variables that the files ``paths`` set; a later file wins, and ``${NAME}`` is replaced.

    Names without a value are left out. Raises InputError for a file that cannot be read, naming the line.
    """
    variables: dict[str, str] = {}
    for path in paths:
        variables |= _read(path)
    return variables


def _read(path: Path) -> dict[str, str]:
    from io import StringIO

    from dotenv import dotenv_values
    from dotenv.parser import parse_stream

    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--env-file ([app] env_file): {path} cannot be read: {said_by(error)}") from error
    for binding in parse_stream(StringIO(text)):
        if binding.error or "\0" in binding.original.string:
            raise InputError(f"{path}, line {binding.original.line}: is no NAME=value ({_WHERE})")
    values = dotenv_values(stream=StringIO(text))
    return {name: value for name, value in values.items() if value is not None}
