"""A trend as one JSON document, described by ``SCHEMA``."""

from __future__ import annotations

import json
from pathlib import Path

from ....base.codec import Form, readable
from ....base.interval import Interval
from ....base.printable import printable
from ...regression.model import Ruling
from ..model import SeriesKey, Trend, TrendChange, TrendCheck, TrendPoint, TrendSeries
from . import words

__all__ = ["FORM", "FORMAT", "RECORDS", "SCHEMA", "VERSION", "document", "export"]

FORMAT = "stackrace-trend"
VERSION = 1
SCHEMA = Path(__file__).parents[1] / "schema" / "trend-1.schema.json"

FORM = Form(text=printable)

RECORDS: dict[str, type] = {
    "": Trend,
    "interval": Interval,
    "key": SeriesKey,
    "point": TrendPoint,
    "change": TrendChange,
    "series": TrendSeries,
    "check": TrendCheck,
    "ruling": Ruling,
}
"""What the definitions of the schema are derived from."""


def export(trend: Trend) -> str:
    """Return the document as text that ends with a newline."""
    return json.dumps(document(trend), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def document(trend: Trend) -> dict[str, object]:
    """Return the document."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "headline": printable(words.headline(trend)),
        **readable(trend, FORM),
    }
