"""Columns that give back exactly what was put in, on SQLite and PostgreSQL alike."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

import json
import math
from typing import Any

from django.db import models

from ..base.codec import dumps
from ..base.text import legible, storable

__all__ = ["DocumentField", "ExactTextField", "RealField"]


class ExactTextField(models.TextField):
    """Any Python string, whatever a server's log contained."""

    def get_prep_value(self, value: Any) -> Any:
        """Escape on the way in."""
        return None if value is None else storable(value)

    def from_db_value(self, value: str | None, *_: object) -> str | None:
        """Restore on the way out."""
        return None if value is None else legible(value)


class DocumentField(models.TextField):
    """A JSON document, as ``codec`` writes it, as ASCII text.

    Text rather than Django's JSONField: PostgreSQL's ``jsonb`` refuses NULs and lone surrogates in strings.
    """

    def get_prep_value(self, value: Any) -> Any:
        """Write the document; NaN and infinities, which JSON lacks, must be strings by now."""
        return dumps(value)

    def from_db_value(self, value: str | None, *_: object) -> Any:
        """Read the document; NULL is None. What is no JSON stays text, which ``decode`` refuses."""
        try:
            return None if value is None else json.loads(value)
        except ValueError:
            return value


class RealField(models.FloatField):
    """Any float. NULL is NaN, a share of nothing: SQLite would turn the one into the other anyway."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "null": True})

    def get_prep_value(self, value: Any) -> Any:
        """Write NaN as NULL."""
        return None if math.isnan(value) else float(value)

    def from_db_value(self, value: float | None, *_: object) -> float:
        """Read NULL as NaN."""
        return math.nan if value is None else value
