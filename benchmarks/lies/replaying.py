"""Recorded inputs, held before the checks as a race would."""

from __future__ import annotations

from stackrace.validity import Observation, examine

from .fault import Found, in_verdict

__all__ = ["replayed"]


def replayed(seen: Observation) -> Found:
    """Return what the checks say of a slice."""
    return in_verdict(examine(seen))
