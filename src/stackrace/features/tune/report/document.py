"""One JSON document about a race that tunes; ``schema/tune-1.schema.json`` is its contract.

Times are seconds, sizes bytes. What is not known is null.
"""

from __future__ import annotations

from pathlib import Path

from ....base.codec import Form, readable
from ....base.interval import Interval
from ....base.printable import printable
from ....race.results.race import Race
from ..model import (
    Against,
    Edge,
    Effect,
    Infeasible,
    Knob,
    Needs,
    Responded,
    Scattering,
    Tuned,
    Tuning,
    TuningGoal,
    TuningLimits,
)
from . import words
from .sheet import race_file_line

__all__ = ["FORM", "RECORDS", "SCHEMA", "VERSION", "document"]

VERSION = "tune-1"
SCHEMA = Path(__file__).parents[1] / "schema" / "tune-1.schema.json"
"""The published schema of this version."""

FORM = Form(text=printable)

RECORDS: dict[str, type] = {
    "tuned": Tuned,
    "tuning": Tuning,
    "goal": TuningGoal,
    "limits": TuningLimits,
    "knob": Knob,
    "needs": Needs,
    "infeasible": Infeasible,
    "against": Against,
    "effect": Effect,
    "edge": Edge,
    "response": Responded,
    "scattering": Scattering,
    "interval": Interval,
}
"""What the definitions of the schema are derived from."""


def document(race: Race, found: Tuned) -> dict[str, object]:
    """Return the document."""
    return {
        "schema": VERSION,
        "race": race.id,
        "app": printable(race.app),
        "ending": None if race.ending is None else race.ending.value,
        "elapsed_s": race.elapsed_s,
        "launches": sum(not launch.cut_short for launch in race.launches),
        "difference": race.difference,
        "cores": list(race.cores.stack_cores),
        "seed": race.seed,
        "asked": readable(race.tuning, FORM),
        "found": readable(found, FORM),
        "race_file": race_file_line(found.stack) if found.stack else None,
        "words": {"answer": words.answer(race, found), "reasons": list(words.reasons(race, found))},
        "notes": [printable(note) for note in race.notes],
    }
