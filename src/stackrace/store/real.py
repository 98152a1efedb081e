"""Floats inside JSON documents, which know neither NaN nor infinity."""

from __future__ import annotations

import math

__all__ = ["Real", "real"]

Real = float | str
"""A number, or one of the strings ``nan``, ``inf`` and ``-inf``; ``float()`` reads either."""


def real(value: float) -> Real:
    """Return ``value`` as a document holds it.

    >>> real(0.5), real(math.inf), float(real(-math.inf))
    (0.5, 'inf', -inf)
    """
    return value if math.isfinite(value) else str(value)
