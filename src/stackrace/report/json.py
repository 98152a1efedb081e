"""Export as the published JSON document."""

from __future__ import annotations

import json

from ..model.race import Race
from ..model.standing import Standing
from .document import document

__all__ = ["JsonExporter"]


class JsonExporter:
    """Writes the document of :mod:`.document`, indented; ``series`` adds every slice's 100 ms bins."""

    def __init__(self, *, series: bool = False) -> None:
        self._series = series

    def export(self, race: Race, standing: Standing) -> str:
        """Return the document as text that ends with a newline."""
        built = document(race, standing, series=self._series)
        return json.dumps(built, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
