"""Short URL-safe identifiers: a random 64-bit number in 13 characters of lower-case base 36.

The scheme is versioned by length: version 0 has exactly 13 characters, each later version has more, 32 at most.
Among a million ids the chance of any collision is 3 in 100 million, and the insert into the database fails if an
id exists. A *name* is an id that a person chose: it contains a hyphen, so it is never mistaken for a random id.
"""

from __future__ import annotations

import re
import secrets

from .errors import InputError

_LENGTH = 13
PATTERN = re.compile(r"[0-9a-z][0-9a-z-]{11,30}[0-9a-z]")
"""Pattern of all ids and names of any version, and of UUIDs without hyphens; use it with ``fullmatch``."""

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


def generate() -> str:
    """Return a fresh random id."""
    return encode(secrets.randbits(64))


def is_valid(identifier: str) -> bool:
    """Tell whether ``identifier`` is an id of version 0, and no name."""
    return re.fullmatch(f"[0-9a-z]{{{_LENGTH}}}", identifier) is not None and int(identifier, 36) < _LIMIT


def parse_name(text: str) -> str:
    """Return ``text`` as a name in lower case; raises InputError if it is not valid.

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
