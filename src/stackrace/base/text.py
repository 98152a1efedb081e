"""Foreign text (stack names, logs, messages) made harmless for terminals, XML, files, databases and JSON.

All shown text passes `printable`, all stored text passes `kept`: both mask secrets. Also suggestions for mistyped
words, and names of packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .secrets import masked

# an unterminated escape sequence counts as text, because the text after it may be ours
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str, *, words: bool = True) -> str:
    r"""Return ``text`` without escape sequences and secrets; control characters and lone surrogates become "�".

    Without ``words``, as for a whole document, secrets that are a mere word or number stay.

    >>> printable("\x1b[31mred\x1b[0m\x00")
    'red�'
    """
    plain = _UNPRINTABLE.sub("\ufffd", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    return masked(plain, words=words)


def one_line(text: str) -> str:
    """Return ``text`` made printable, with line breaks and runs of spaces as single spaces."""
    return " ".join(printable(text).split())


def tail(text: str, lines: int) -> tuple[str, ...]:
    """Return the last ``lines`` lines of ``text`` that are not blank, made printable."""
    kept = [line.rstrip() for line in printable(text).splitlines() if line.strip()]
    return tuple(kept[-lines:])


def package_key(name: str) -> str:
    """Return a Python package's name as indexes compare it. Source: PEP 503.

    >>> package_key("Foo_Bar.Baz")
    'foo-bar-baz'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def few(things: Sequence[object], most: int = 5) -> str:
    """Return the first ``most`` of ``things``, and how many more there are.

    >>> few(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(map(str, things[:most])) + more


_ESCAPE = "\x1a"
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile(_ESCAPE + "([0-9a-f]{4})")


def storable(text: str) -> str:
    """Return ``text`` without NULs and lone surrogates, which logs contain and databases refuse.

    They become U+001A and four hexadecimal digits, as does U+001A itself; ordinary text stays as it is.
    """
    return _UNSTORABLE.sub(lambda match: f"{_ESCAPE}{ord(match[0]):04x}", text)


def kept(text: str) -> str:
    """Return ``text`` as it is stored: ``storable``, and without secrets."""
    return storable(masked(text))


def legible(text: str) -> str:
    """Undo ``storable``."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


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


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean a or b?"`` with the known names nearest to ``word``, else a list of all known names.

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
    """Return the known names that ``word`` probably means, the nearest first."""
    from difflib import get_close_matches

    names, word = sorted(known), word.lower()
    if _OTHER_NAMES.get(word) in names:
        return [_OTHER_NAMES[word]]
    others = [other for other, name in _OTHER_NAMES.items() if name in names]
    near = get_close_matches(word, [*names, *others], n=3, cutoff=0.6)
    return list(dict.fromkeys(_OTHER_NAMES.get(other, other) for other in near))


_ADDRESS = re.compile(r"(localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:]+\]|[\w.-]+(?=:\d))(:\d{1,5})?(/.*)?")


def url_meant(word: str) -> str:
    """Return ``word`` as a URL if it is one, with or without its scheme; empty for anything else.

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
