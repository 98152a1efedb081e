"""Estimates with their limits, and number formats for people: one rule of digits, one separator.

No number is written with an exponent: numbers smaller than ``LEAST`` are written as ``<0.001``.

Quantities that a user may type again, such as ``200ms`` or ``1.5k/s``, are written by ``units``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its limits, which are None if there are too few launches for any."""

    value: float
    """The estimate."""
    low: float | None = None
    """The lower limit."""
    high: float | None = None
    """The upper limit."""


NOTHING = "–"
"""Text in place of an unknown figure."""

LEAST = 0.001
"""Smallest size written in digits, in any unit; only coefficients may be smaller."""

Figure = Callable[[float], str]
"""Function that formats one value, without its unit."""


def number(value: float) -> str:
    """Format a figure: whole from 100 on, one decimal from 10 on, then two; below 0.1 two digits.

    >>> number(12345.6), number(12.345), number(1.2345), number(0.481), number(0.0481), number(0.000097), number(0)
    ('12,346', '12.3', '1.23', '0.48', '0.048', '<0.001', '0')
    """
    if not math.isfinite(value):
        return NOTHING
    size = abs(value)
    if size < 0.0995:
        return _two_digits(value)
    return f"{value:,.{2 if size < 9.995 else 1 if size < 99.95 else 0}f}"


def _two_digits(value: float) -> str:
    """Format a value below ten in two digits, or as ``<0.001`` if it is smaller than ``LEAST``."""
    if 0 < abs(value) < LEAST:
        return f"<{LEAST}" if value > 0 else f">-{LEAST}"
    return coefficient(value)


def not_one(value: float) -> str:
    """Format a ratio like ``number``, with enough digits to show on which side of 1 it is.

    >>> not_one(0.97), not_one(0.9967), not_one(1.00004), not_one(1)
    ('0.97', '0.997', '1.00004', '1.00')
    """
    text, digits = number(value), 2
    while text.strip("0") == "1." and value != 1:
        digits += 1
        text = f"{value:.{digits}f}"
    return text


def coefficient(value: float) -> str:
    """Format a value of any size in two digits: ``0.000042``."""
    return f"{Decimal(f'{value:.2g}'):f}" if math.isfinite(value) else NOTHING


def setting(value: float) -> str:
    """Format a value that the user gave, in up to six digits: ``200``, ``0.5``, ``1500000``."""
    return f"{Decimal(f'{value:g}'):f}"


def count(value: float) -> str:
    """Write a number of things: ``12,346``."""
    return f"{value:,.0f}"


def percent(share: float) -> str:
    """Write ``share`` (0.04) as ``4 %``: whole from ten on, with a decimal below if it needs one.

    >>> percent(0.126), percent(0.04), percent(0.034), percent(0.0025), percent(1e-8), percent(0)
    ('13 %', '4 %', '3.4 %', '0.25 %', '<0.001 %', '0 %')
    """
    value = 100 * share
    size = abs(value)
    if size >= 9.95 or abs(value - round(value)) < min(0.05, size / 20):
        return f"{value:,.0f} %"
    return f"{value:.1f} %" if size >= 1 else f"{_two_digits(value)} %"


def change(share: float) -> str:
    """Write a change as a percentage, with one decimal if it is below 10 %.

    >>> change(0.0213), change(0.126), change(0)
    ('2.1 %', '13 %', '0.0 %')
    """
    return f"{100 * share:.1f} %" if abs(share) < 0.0995 else percent(share)


def points(share: float) -> str:
    """Write a difference of shares in percentage points: ``0.15 points``."""
    return f"{100 * share:.2f} points"


def milliseconds(seconds: float) -> str:
    """Write ``seconds`` as milliseconds, without the unit."""
    return number(seconds * 1e3)


def mebibytes(size: float) -> str:
    """Write ``size`` (bytes) as MiB, without the unit."""
    return number(size / 1024**2)


def things(amount: int, noun: str) -> str:
    """Write a number of things with their ``noun``: ``1 page``, ``20 pages``."""
    return f"{count(amount)} {noun}{'' if amount == 1 else 's'}"


def connections(amount: int) -> str:
    """Write a number of connections."""
    return things(amount, "connection")


def duration(seconds: float) -> str:
    """Write a length of time in its two largest units.

    >>> duration(1e-6), duration(4.2), duration(65), duration(3600), duration(7290)
    ('<0.001 s', '4.2 s', '1 min 5 s', '1 h', '2 h 1 min')
    """
    if not math.isfinite(seconds):
        return NOTHING
    if seconds < 9.95:
        return f"{_two_digits(max(0.0, seconds))} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h" + (f" {minutes} min" if minutes else "")


def flag_value(seconds: float) -> str:
    """Write a duration that is only an estimate as the value of a flag, rounded up: ``80s``, ``14min``."""
    return about(seconds).replace(" ", "")


def about(seconds: float) -> str:
    """Write a duration that is only an estimate, rounded up: ``80 s``, ``14 min``."""
    return f"{math.ceil(seconds)} s" if seconds < 100 else f"{math.ceil(seconds / 60)} min"
