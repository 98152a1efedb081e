"""Plain JSON values as text that every reader and every database takes."""

from __future__ import annotations

import json

__all__ = ["dumps"]


def dumps(document: object, *, sort_keys: bool = False) -> str:
    """Return ``document``, as ``encode`` makes it, in one line of ASCII; NaN and infinities are strings by now."""
    return json.dumps(document, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys)
