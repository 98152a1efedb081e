"""Short URL-safe identifiers: a random 64-bit number in 13 characters of lower-case base 36.

The scheme is versioned by length: version 0 has exactly 13 characters, each later version has more, 32 at most.
Among a million ids the chance of any collision is 3 in 100 million, and the insert that uses an id is its
uniqueness check. A *name* is an id that a person chose: it holds a hyphen, so it is never mistaken for one that
was drawn.
"""

from __future__ import annotations

import re
import secrets

from .errors import InputError

__all__ = ["PATTERN", "decode", "encode", "generate", "is_valid", "parse_name", "version_of"]

_LENGTH = 13
PATTERN = re.compile(r"[0-9a-z][0-9a-z-]{11,30}[0-9a-z]")
"""All ids and names, of any version; UUIDs without their hyphens, too. To be used with ``fullmatch``."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LIMIT = 1 << 64


def encode(number: int) -> str:
    """Return the id of ``number`` (0 ≤ number < 2^64), zero-padded.

    >>> encode(0), encode(2**64 - 1)
    ('0000000000000', '3w5e11264sgsf')
    """
    if not 0 <= number < _LIMIT:
        raise InputError(f"{number} does not fit an id: ids hold 64 bits")
    digits = []
    for _ in range(_LENGTH):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


def decode(identifier: str) -> int:
    """Return the number behind a version-0 ``identifier``.

    >>> decode('3w5e11264sgsf') == 2**64 - 1
    True
    """
    version = version_of(identifier)
    if version:
        raise InputError(f"{identifier!r} is an id of version {version}, from a later Stackrace; upgrade")
    if not is_valid(identifier):
        raise InputError(f"{identifier!r} is not an id: {_LENGTH} characters of 0-9 and a-z")
    return int(identifier, 36)


def generate() -> str:
    """Return a fresh random id."""
    return encode(secrets.randbits(64))


def is_valid(identifier: str) -> bool:
    """Tell whether ``identifier`` is a version-0 id."""
    return version_of(identifier) == 0 and int(identifier, 36) < _LIMIT


def version_of(identifier: str) -> int | None:
    """Return the version of the scheme that ``identifier`` is of, by its length; None for what is no id.

    >>> version_of('3w5e11264sgsf'), version_of('3w5e11264sgsf0'), version_of('spring-clean-up')
    (0, 1, None)
    """
    if not PATTERN.fullmatch(identifier) or "-" in identifier:
        return None
    return len(identifier) - _LENGTH


def parse_name(text: str) -> str:
    """Return the name ``text`` gives, in lower case; raises InputError for what can be none.

    >>> parse_name(' Before-Upgrade-2024 ')
    'before-upgrade-2024'
    """
    name = text.strip().lower()
    if not PATTERN.fullmatch(name) or "-" not in name:
        raise InputError(
            f"{text!r} is not a valid name: use 13 to 32 characters of 0-9, a-z and -, with a hyphen inside, "
            "as in before-upgrade-2024"
        )
    return name
