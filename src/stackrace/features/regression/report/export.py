"""A check in any format: those of all results, JUnit and OpenMetrics."""

from __future__ import annotations

from ....race.results.race import Race
from ....report.exporter import Format, told
from ..model import GateAnswer
from . import junit, kind, openmetrics

__all__ = ["FORMATS", "rendered"]

_OWN = {"junit": junit.export, "openmetrics": openmetrics.export}

FORMATS = ("json", "junit", "markdown", "openmetrics", "html")


def rendered(race: Race, result: GateAnswer, form: str) -> str:
    """Return the report of a check in one of ``FORMATS``; KeyError for any other."""
    return _OWN[form](race, result) if form in _OWN else told(kind, race, Format[form.upper()])
