"""Answers that somebody remembered."""

from __future__ import annotations

from .fault import Fault
from .telling import told

FAULTS: tuple[Fault, ...] = (
    told("remembered", "a cache that strips every sign of itself", "nonces lost", nonce=True),
    told("aged", "answers with Age and X-Cache", "cached answers"),
    told("stale-date", "a Date of a minute ago", "stale dates"),
    told("frozen-date", "a Date that stands still", "stale dates", seconds=4.0),
)
