"""Export as the published JSON document."""

from __future__ import annotations

from ..base.codec import pretty
from ..race.results.race import Race
from ..race.results.standing import Standing
from .document import document

__all__ = ["export"]


def export(race: Race, standing: Standing) -> str:
    """Return the document as text that ends with a newline."""
    return pretty(document(race, standing))
