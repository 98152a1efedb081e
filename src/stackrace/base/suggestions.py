"""Suggestions for mistyped words: names that are close, and addresses that are URLs without a scheme."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean", "nearest", "url_meant"]

_OTHER_NAMES = {
    "maria": "mariadb",
    "mysql": "mariadb",
    "mysqld": "mariadb",
    "pg": "postgresql",
    "pgsql": "postgresql",
    "postgres": "postgresql",
    "psql": "postgresql",
    "redis-server": "redis",
    "valkey": "redis",
    "valkey-server": "redis",
}
"""What people call our names, too."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean a or b?"`` for the known names nearest to ``word``, else all the known ones.

    >>> did_you_mean("yelow", ["yellow", "blue"])
    '; did you mean yellow?'
    >>> did_you_mean("xyz", ["yellow", "blue"])
    '; known are blue, yellow'
    """
    names = sorted(known)
    if near := nearest(word, names):
        return f"; did you mean {' or '.join(near)}?"
    return f"; known are {', '.join(names)}" if names else ""


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return the known names that ``word`` was probably meant as, the nearest first."""
    names, word = sorted(known), word.lower()
    if _OTHER_NAMES.get(word) in names:
        return [_OTHER_NAMES[word]]
    others = [other for other, name in _OTHER_NAMES.items() if name in names]
    near = get_close_matches(word, [*names, *others], n=3, cutoff=0.6)
    return list(dict.fromkeys(_OTHER_NAMES.get(other, other) for other in near))


_ADDRESS = re.compile(r"(localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:]+\]|[\w.-]+(?=:\d))(:\d{1,5})?(/.*)?")


def url_meant(word: str) -> str:
    """Return ``word`` as a URL where it is one, or is one without its scheme; empty for anything else.

    >>> url_meant("127.0.0.1:8000")
    'http://127.0.0.1:8000/'
    >>> url_meant("race.toml")
    ''
    """
    if word.startswith(("http:/", "https:/")):
        # a path has lost one of its slashes
        return re.sub(":/+", "://", word, count=1)
    match = _ADDRESS.fullmatch(word)
    return f"http://{word}{'' if match[3] else '/'}" if match else ""
