"""The turns of phrase that all sentences about a standing share: stacks, ratios, shares."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.interval import Interval
from ...base.numbers import number
from .. import figures

__all__ = ["limited", "listed", "names", "others", "sentence", "share", "times"]

_FRACTIONS = (("a quarter of ", 0.23, 0.27), ("a third of ", 0.31, 0.36), ("half ", 0.47, 0.53))
"""Ratios that have a name, and how far it reaches."""


def sentence(text: str, stacks: Sequence[str]) -> str:
    """Begin with a capital, unless a stack's name comes first; end with a full stop."""
    named = text.split(" ", 1)[0] in stacks
    return (text if named else text[:1].upper() + text[1:]) + "."


def names(stacks: Sequence[str]) -> str:
    """Name up to four stacks, of more the first three."""
    named = list(stacks) if len(stacks) <= 4 else [*stacks[:3], f"{len(stacks) - 3} more"]
    return listed(named)


def others(stacks: Sequence[str]) -> str:
    """Name up to three stacks; of more a sentence has room for their number alone."""
    return listed(stacks) if len(stacks) <= 3 else f"{len(stacks)} others"


def listed(things: Sequence[object]) -> str:
    """Write ``a, b and c``."""
    words = [str(thing) for thing in things]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def times(ratio: Interval) -> str:
    """Word a ratio with its limits: ``1.28× (1.24–1.33)``."""
    return limited(ratio, "×")


def limited(ratio: Interval, unit: str = "") -> str:
    """Write a ratio with its limits as ``0.81 (0.78–0.84)``."""
    limits = figures.ratio_limits(ratio)
    return f"{figures.ratio(ratio)}{unit}{f' ({limits})' if limits else ''}"


def share(ratio: float) -> str:
    """Word a ratio of costs so that a noun may follow: ``a third of ``, ``2.4× ``."""
    for word, low, high in _FRACTIONS:
        if low <= ratio <= high:
            return word
    return f"{number(ratio)}× "
