"""What is said in the answer's place where nothing of a race may be believed."""

from __future__ import annotations

from ...base.verdict import Effect, Verdict
from .findings import seen

__all__ = ["void"]


def void(verdict: Verdict) -> str:
    """Return the sentence that names every finding that makes the race void."""
    grave = [seen(finding).rstrip(".") for finding in verdict.findings if finding.effect is not Effect.WARNS]
    return f"This race is void: {'; '.join(grave)}."
