"""What pydantic finds wrong with a race file, in the words of its reader."""

from __future__ import annotations

import json

from pydantic_core import ErrorDetails

from ..base.units import SIZE

__all__ = ["in_words"]

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
"""By pydantic's type of error; the braces are what it knows of each."""

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
"""A right line, by its key."""

_OF_A_KIND = {"dict_type", "float_type", "list_type", "model_type", "string_type"}
"""Errors that are best mended by looking at a right line."""


def in_words(problem: ErrorDetails) -> str:
    """Return what to change; pydantic's own words where we have no better ones."""
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
    """Return a right line, with the very value where that only lacks its quotes or brackets."""
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
