"""Export as the published JSON document."""

from __future__ import annotations

import json

from ..race.results.race import Race
from ..race.results.standing import Standing
from .document import document

__all__ = ["export"]


def export(race: Race, standing: Standing) -> str:
    """Return the document as text that ends with a newline."""
    return json.dumps(document(race, standing), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
