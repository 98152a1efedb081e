"""Recorded inputs, held before the checks as a race would."""

from __future__ import annotations

from stackrace.validity.observation import Observation
from stackrace.validity.registry import examine

from .fault import Found, in_verdict


def replayed(seen: Observation) -> Found:
    """Return what the checks say of a slice."""
    return in_verdict(examine(seen))
