"""Short URL-safe identifiers: a random 64-bit number in 13 characters of lower-case base 36.

Version 0 of the scheme is exactly 13 characters; later versions are longer. Among a million ids the chance
of any collision is 3 in 100 million, and the insert that uses an id is its uniqueness check.
"""

from __future__ import annotations

import secrets

from .errors import InputError

__all__ = ["LENGTH", "decode", "encode", "generate", "is_valid"]

LENGTH = 13
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
    for _ in range(LENGTH):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


def decode(identifier: str) -> int:
    """Return the number behind a version-0 ``identifier``.

    >>> decode('3w5e11264sgsf') == 2**64 - 1
    True
    """
    if not is_valid(identifier):
        raise InputError(f"{identifier!r} is not an id: {LENGTH} characters of 0-9 and a-z")
    return int(identifier, 36)


def generate() -> str:
    """Return a fresh random id."""
    return encode(secrets.randbits(64))


def is_valid(identifier: str) -> bool:
    """Tell whether ``identifier`` is a version-0 id."""
    return (
        len(identifier) == LENGTH
        and all(character in _DIGITS for character in identifier)
        and int(identifier, 36) < _LIMIT
    )
