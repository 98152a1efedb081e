"""Which module writes a check down in which format."""

from __future__ import annotations

from importlib import import_module

from ....race.results.race import Race
from ..model import GateAnswer

__all__ = ["FORMATS", "rendered"]

FORMATS = {
    "json": "document",
    "junit": "junit",
    "markdown": "markdown",
    "openmetrics": "openmetrics",
    "html": "html",
}
"""Format → the module here with ``export`` in it."""


def rendered(race: Race, result: GateAnswer, form: str) -> str:
    """Return the report of a check in one of ``FORMATS``; KeyError for any other."""
    text: str = import_module(f".{FORMATS[form]}", __package__).export(race, result)
    return text
