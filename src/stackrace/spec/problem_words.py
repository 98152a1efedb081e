"""What pydantic finds wrong with a race file, in the words of its reader."""

from __future__ import annotations

from pydantic_core import ErrorDetails

__all__ = ["in_words"]

_WORDS = {
    "bool_type": "write true or false",
    "dict_type": "must be a table",
    "float_type": "must be a number",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "int_type": "must be a whole number",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "list_type": "must be a list, as in [1, 2]",
    "literal_error": "must be {expected}",
    "missing": "is missing",
    "model_type": "must be a table",
    "string_type": "must be text in quotes",
    "too_short": "must not be empty; give a value, or leave it out",
}
"""By pydantic's type of error; the braces are what it knows of each."""

_PATTERNS = {
    "^/": "must start with /",
    "^[A-Za-z0-9_-]{1,40}$": "must have 1 to 40 letters, digits, - and _",
}


def in_words(problem: ErrorDetails) -> str:
    """Return what to change; pydantic's own words where we have no better ones."""
    known = problem.get("ctx", {})
    if problem["type"] == "string_pattern_mismatch" and known.get("pattern") in _PATTERNS:
        return _PATTERNS[known["pattern"]]
    words = _WORDS.get(problem["type"])
    return problem["msg"].removeprefix("Value error, ") if words is None else words.format(**known)
