"""How long load is sent before a slice is recorded."""

from __future__ import annotations

__all__ = ["FEW_CONNECTIONS", "REWARM_S", "rewarm_s"]

REWARM_S = 0.1
"""Load sent before each slice and not recorded, so that a slice starts on warm connections and caches; more where
answers are slow. docs/decisions/0024-duty-cycle.md has the measurement."""

FEW_CONNECTIONS = 10
"""With no more, an answer's time is mostly the app's own; with more it is mostly waiting in the server's queue."""

ANSWERS = 3
"""A re-warm is so many answers long at least, so that every worker has given one and is at the next."""

MOST_REWARM_S = 0.5
"""Where answers are slower still, slices are no longer what such an app needs."""


def rewarm_s(answer_s: float | None) -> float:
    """Return the seconds for a stack that answers few connections in ``answer_s``, None if that is unknown."""
    return REWARM_S if answer_s is None else min(max(REWARM_S, ANSWERS * answer_s), MOST_REWARM_S)
