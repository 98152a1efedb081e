"""A race file's text and its table, read within bounds: what is no race file is refused at once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from ...base import files
from ...base.errors import SpecError

__all__ = ["read_table", "read_text"]

MOST_BYTES = 1 << 20
"""More than any race file that people write; what is longer is something else."""

_DEEP_KEY = re.compile(r"""(?:^|[\[{,])[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){50}""", re.MULTILINE)


def read_text(path: Path) -> str:
    """Return the text of the race file at ``path``.

    Raises SpecError for a pipe or a device, for it is read more than once; OSError or UnicodeDecodeError where it
    cannot be read, or is too long to be one.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise SpecError(f"{path} is a pipe or a device, not a file; save the race file, and name that")
    return files.read_text(path, MOST_BYTES)


def read_table(text: str) -> dict[str, object]:
    """Return the table that ``text`` writes down.

    Raises TOMLDecodeError for what is no TOML, RecursionError for keys nested beyond reason, on which tomllib
    spends the square of their depth, and ValueError for numbers of thousands of digits, which Python neither
    reads nor writes.
    """
    if _DEEP_KEY.search(text):
        raise RecursionError
    table = tomllib.loads(text)
    for number in _whole_numbers(table):
        str(number)
    return table


def _whole_numbers(value: object) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _whole_numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _whole_numbers(inner)
