"""Which default stacks were not raced, and why."""

from __future__ import annotations

from itertools import groupby

from ...race.results.race import Race

__all__ = ["left_out"]


def left_out(race: Race) -> str:
    """Name the stacks that could not be raced here, those of one reason together; empty where all could."""
    by_reason = sorted(race.left_out, key=lambda each: each.reason)
    groups = (
        f"{' and '.join(each.stack for each in group)} ({reason})"
        for reason, group in groupby(by_reason, key=lambda each: each.reason)
    )
    return f"Left out: {'; '.join(groups)}." if race.left_out else ""
