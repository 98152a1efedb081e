"""TOML files: their tables, the lines of their keys, and their problems in words."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...base import files
from ...base.errors import SpecError
from ...base.units import SIZE

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MOST_BYTES = 1 << 20
"""The most bytes of a race file; a longer file is something else."""

_DEEP_KEY = re.compile(r"""(?:^|[\[{,])[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){50}""", re.MULTILINE)


def read_text(path: Path) -> str:
    """Return the text of the race file at ``path``.

    Raises SpecError for a pipe or a device, because the file is read more than once; OSError or UnicodeDecodeError
    if it cannot be read, or is too long for a race file.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise SpecError(f"{path} is a pipe or a device, not a file; save the race file, and name that")
    return files.read_text(path, _MOST_BYTES)


def read_table(text: str) -> dict[str, object]:
    """Return the table in the TOML ``text``.

    Raises TOMLDecodeError for invalid TOML, RecursionError for keys nested so deeply that tomllib takes quadratic
    time, and ValueError for numbers of thousands of digits, which Python neither reads nor writes.
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


_HEADER = re.compile(r"\s*\[++\s*+([^\]]+)\]")
_KEY = re.compile(r"""\s*["']?([\w./-]+)["']?\s*=""")


def line_of(text: str, location: Sequence[str | int]) -> int | None:
    """Return the 1-based line of the key at ``location`` (``("race", "budget")``), or of its closest parent.

    Indices into arrays are ignored, so an entry has the line of its array. None if not even the first key is in the
    text.

    >>> line_of('[race]\\nbudget = "x"\\n', ("race", "budget"))
    2
    """
    keys = [str(part) for part in location if isinstance(part, str)]
    for length in range(len(keys), 0, -1):
        line = _find(text, ".".join(keys[:length]))
        if line is not None:
            return line
    return None


def _find(text: str, wanted: str) -> int | None:
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = re.sub(r"[\s\"']", "", header[1])
            if table == wanted:
                return number
        elif key := _KEY.match(line):
            name = f"{table}.{key[1]}" if table else key[1]
            if name == wanted:
                return number
    return None


_WORDS = {
    "bool_type": "write true or false",
    "dict_type": "must be a table",
    "finite_number": "is too large",
    "float_type": "must be a number",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "int_type": "must be a whole number",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "missing": "is missing",
    "model_type": "must be a table",
    "string_too_short": "must not be empty; give a value, or leave it out",
    "string_type": "must be text in quotes",
    "too_short": "must not be empty; give a value, or leave it out",
}

_PATTERNS = {
    "^[^=]+$": 'is no name of a variable; give one without =, as in env = { DEBUG = "0" }',
    "^[A-Za-z0-9_-]{1,40}$": "must have 1 to 40 letters, digits, - and _",
}

_EXAMPLES = {
    "app": '[app] and below it wsgi = "shop:app"',
    "asgi": 'asgi = "shop:app"',
    "budget": 'budget = "20min"',
    "bundled": 'bundled = "django"',
    "concurrency": "concurrency = [1, 20]",
    "django": 'django = "mysite.settings"',
    "env": 'env = { DEBUG = "0" }',
    "env_file": 'env_file = [".env"]',
    "headers": 'headers = { Accept-Language = "de" }',
    "load": "[load] and below it concurrency = [1, 20]",
    "prepare": 'prepare = ["python manage.py migrate"]',
    "protect": 'protect = ["/srv/media"]',
    "race": '[race] and below it budget = "20min"',
    "services": 'services = ["postgresql"]',
    "stacks": 'stacks = ["NAME", "NAME/http/NAME"]',
    "static": 'static = { "/static/" = "staticfiles" }',
    "urls": 'urls = ["/", "/about/"]',
    "wsgi": 'wsgi = "shop:app"',
    "workload": '[workload] and below it urls = ["/"]',
    "workloads": '[workloads.front] and below it urls = ["/"]',
}

_OF_A_KIND = {"dict_type", "float_type", "list_type", "model_type", "string_type"}
"""Errors that an example line helps best to correct."""


def in_words(problem: ErrorDetails) -> str:
    """Return what to change; pydantic's own words if we have no better ones."""
    known = problem.get("ctx", {})
    if problem["type"] == "string_pattern_mismatch" and known.get("pattern") in _PATTERNS:
        return _PATTERNS[known["pattern"]]
    if problem["type"] == "greater_than_equal" and problem["loc"][-1] == "memory":
        return f'must be at least {SIZE.format(float(known["ge"]))}, as in memory = "512MiB"'
    words = _WORDS.get(problem["type"])
    if words is None:
        return problem["msg"].removeprefix("Value error, ")
    return words.format(**known) + _example(problem)


def _example(problem: ErrorDetails) -> str:
    """Return an example line, with the user's own value if that lacks only its quotes or brackets."""
    if problem["type"] not in _OF_A_KIND:
        return ""
    key, value = str(problem["loc"][-1]) if problem["loc"] else "", problem["input"]
    line = _EXAMPLES.get(key, "")
    if problem["type"] == "list_type" and isinstance(value, str if '"' in line else int):
        line = f"{key} = [{json.dumps(value, ensure_ascii=False)}]"
    elif problem["type"] == "string_type" and not line and isinstance(value, int | float):
        quoted = f'"{str(value).lower() if isinstance(value, bool) else value}"'
        line = quoted if isinstance(problem["loc"][-1], int) else f"{key} = {quoted}"
    return f", as in {line}" if line else ""
