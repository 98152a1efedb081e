"""What a race comes to, and its reports."""

from __future__ import annotations

from ..model.race import Race
from ..model.standing import Standing
from ..report.exporter import Format, exporter
from ..report.result import standing_of

__all__ = ["render", "standing"]


def standing(race: Race) -> Standing:
    """Return the standing of ``race``: its answer, and every stack with ratios, limits, costs and conditions."""
    return standing_of(race)


def render(race: Race, standing: Standing, form: Format | str) -> str:
    """Return the report of ``race`` in one format: ``html``, ``json``, ``csv`` or ``md`` (Markdown).

    Raises ValueError for any other.
    """
    return exporter(Format(form)).export(race, standing)
