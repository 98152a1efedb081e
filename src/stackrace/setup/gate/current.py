"""What the project is deployed with today, as a stack."""

from __future__ import annotations

from ...spec.request import RaceRequest

__all__ = ["current_stack"]


def current_stack(request: RaceRequest) -> str | None:
    """Return the path of the stack that the project's own files describe; None where they describe none."""
    return None
