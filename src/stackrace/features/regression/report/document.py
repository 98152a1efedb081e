"""A check as one JSON document; ``schema/check-1.schema.json`` is its contract.

Units are in the names or those of the response: requests per second, seconds, bytes, a share of requests. What is
not known is null. Changes are shares of worse: 0.05 is 5 % slower, larger or longer, of errors 5 percentage points
more.
"""

from __future__ import annotations

import json
from pathlib import Path

from ....base.codec import LEFT_OUT, Form, readable
from ....base.printable import printable
from ....measure.load import Load
from ....race.results.race import Race
from ....report.document_leaves import whole
from ..model import Change, Contender, FailedLaunches, GateAnswer, GateFacts, Growth, Ruling, Terms
from . import words

__all__ = ["FORM", "FORMAT", "RECORDS", "SCHEMA", "VERSION", "document", "export"]

FORMAT = "stackrace-check"
VERSION = 1
SCHEMA = Path(__file__).parents[1] / "schema" / "check-1.schema.json"
"""The published schema of this version."""

FORM = Form(
    names={GateFacts: {"allowances": LEFT_OUT}, Load: {"seed": LEFT_OUT}},
    text=printable,
)

RECORDS: dict[str, type] = {
    "contender": Contender,
    "ruling": Ruling,
    "terms": Terms,
    "change": Change,
    "growth": Growth,
    "failed_launches": FailedLaunches,
    "load": Load,
}
"""What the definitions of the published schema are derived from."""


def export(race: Race, result: GateAnswer) -> str:
    """Return the document as text that ends with a newline."""
    return json.dumps(document(race, result), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def document(race: Race, result: GateAnswer) -> dict[str, object]:
    """Return the document of the check ``race`` and its answer."""
    assert race.gate is not None
    return {
        "format": FORMAT,
        "version": VERSION,
        "outcome": result.outcome.value,
        "exit_code": result.exit_code,
        "words": {
            "answer": printable(words.answer(race, result)),
            "rulings": [printable(" ".join(words.cells(each))) for each in result.rulings],
        },
        "base": readable(race.gate.base, FORM),
        "head": readable(race.gate.head, FORM),
        "packages": [printable(change) for change in race.gate.packages],
        "rulings": [readable(each, FORM) for each in result.rulings],
        "pairs": result.blocks,
        "failed_launches": readable(result.failed, FORM),
        "needed_s": whole(result.needed_s),
        "race": {
            "id": race.id,
            "started_at": race.started_at,
            "stackrace_version": race.version,
            "app": printable(race.app),
            "loads": [readable(load, FORM) for load in race.loads],
            "urls": [printable(url) for url in race.urls],
            "budget_s": whole(race.budget_s) or 0.0,
            "elapsed_s": whole(race.elapsed_s) or 0.0,
            "ending": race.ending.value if race.ending else None,
            "seed": race.seed,
            "notes": [printable(note) for note in race.notes],
        },
    }
