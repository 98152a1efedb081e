"""A trend as one JSON document; ``stackrace trend --schema`` prints what its members mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...base.codec import FLAT, LEFT_OUT, Form, readable
from ...base.text import printable
from ...race.results.comparison import Comparison
from . import words
from .model import Trend, TrendCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendDocument:
    """A project's races over time, as `stackrace trend --json` prints it. What is not known is null.

    Ratios are of the values after a change to those before.
    """

    format: Literal["stackrace-trend"] = "stackrace-trend"
    """Tells this document from others."""
    version: Literal[1] = 1
    """Version of the format."""
    headline: str
    """What changed, in a sentence."""
    trend: Trend


_FORM = Form(
    names={TrendDocument: {"trend": FLAT}, TrendCheck: {"said": FLAT}, Comparison: {"changes": LEFT_OUT}},
    text=printable,
)


def schema() -> str:
    """Return the JSON Schema of ``document``."""
    from ...base.json_schema import json_schema

    return json_schema(TrendDocument, _FORM, "trend-1")


def document(trend: Trend) -> dict[str, Any]:
    """Return the document as plain JSON values."""
    return readable(TrendDocument(headline=words.headline(trend), trend=trend), _FORM)
